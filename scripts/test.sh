#!/bin/sh
# npm test: installs what the tests need, then runs every test. Arguments go to the test runner.
set -eu
cd "$(dirname "$0")/.."

if [ ! -x node_modules/.bin/bun ]; then
  npm ci --no-audit --no-fund --loglevel=error
fi

# The tests start Redis processes of their own; only the program is needed, no service.
if ! command -v redis-server > /dev/null && ! command -v valkey-server > /dev/null; then
  as_root=
  if [ "$(id -u)" != 0 ]; then as_root='sudo -n'; fi
  if ! command -v apt-get > /dev/null || ! $as_root true 2> /dev/null; then
    echo 'The tests need redis-server (or valkey-server), which is not installed and cannot be installed from here: install it, then run them again.' >&2
    exit 1
  fi
  install='apt-get install -y -qq --no-install-recommends -o Dpkg::Use-Pty=0 redis-server'
  $as_root env DEBIAN_FRONTEND=noninteractive $install > /dev/null 2>&1 || {
    $as_root apt-get update -qq
    $as_root env DEBIAN_FRONTEND=noninteractive $install > /dev/null
  }
  # The package may have started a service, which nobody asked for.
  if [ -d /run/systemd/system ]; then
    $as_root systemctl disable --quiet --now redis-server || true
  else
    $as_root service redis-server stop > /dev/null 2>&1 || true
  fi
fi

exec node_modules/.bin/bun --no-env-file test "$@"
