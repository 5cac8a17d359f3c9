#!/bin/sh
# npm test: installs what the tests need, then runs them all. Arguments go to scripts/test.ts.
set -eu
cd "$(dirname "$0")/.."

. scripts/install-packages.sh

# nginx and others are in folders that are only on the superuser's path.
export PATH="$PATH:/usr/sbin:/sbin"

# Unit tests need no programs.
if [ "${1-}" != --quick ]; then
  . scripts/install-programs.sh
  need_programs() {
    must_have 'redis-server valkey-server' redis-server redis-server
    must_have_postgres
    must_have 'chromium chromium-browser google-chrome' chromium
    want strace strace
    want pgrep procps
    want openssl openssl
    want curl curl
    want python3 python3
    want_python_module aiohttp python3-aiohttp
    want fish fish
    want zsh zsh
    want nginx nginx nginx
    want promtool prometheus prometheus
    want caddy caddy caddy
    want systemd-analyze systemd
  }
  install_together need_programs
  need_programs
fi

exec node_modules/.bin/bun --no-env-file scripts/test.ts "$@"
