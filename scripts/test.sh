#!/bin/sh
# npm test: installs what the tests need, then runs every test. Arguments go to the test runner.
set -eu
cd "$(dirname "$0")/.."

# A start installs less than the tests need.
if [ ! -x node_modules/.bin/bun ] || [ ! -d node_modules/fast-check ]; then
  npm ci --no-audit --no-fund --loglevel=error
fi

as_root=
if [ "$(id -u)" != 0 ]; then as_root='sudo -n'; fi

# Installs one package, or says what is needed and stops.
need() {
  if ! command -v apt-get > /dev/null || ! $as_root true 2> /dev/null; then
    echo "The tests need $2, which is not installed and cannot be installed from here: install it, then run them again." >&2
    exit 1
  fi
  install="apt-get install -y -qq --no-install-recommends -o Dpkg::Use-Pty=0 $1"
  $as_root env DEBIAN_FRONTEND=noninteractive $install > /dev/null 2>&1 || {
    $as_root apt-get update -qq
    $as_root env DEBIAN_FRONTEND=noninteractive $install > /dev/null
  }
}

# The tests start Redis processes of their own; only the program is needed, no service.
if ! command -v redis-server > /dev/null && ! command -v valkey-server > /dev/null; then
  need redis-server 'redis-server (or valkey-server)'
  # The package may have started a service, which nobody asked for.
  if [ -d /run/systemd/system ]; then
    $as_root systemctl disable --quiet --now redis-server || true
  else
    $as_root service redis-server stop > /dev/null 2>&1 || true
  fi
fi

# The tests of the dashboard walk through it in a real browser.
if ! command -v chromium > /dev/null && ! command -v chromium-browser > /dev/null && ! command -v google-chrome > /dev/null; then
  need chromium chromium
fi

node_modules/.bin/bun --no-env-file scripts/build-dashboard.ts --quiet
node_modules/.bin/bun --no-env-file scripts/fetch-reference.ts --quiet

bun='node_modules/.bin/bun --no-env-file'
# For tests that name no time of their own: a busy machine must not fail them.
patience_ms=20000

if [ $# -gt 0 ]; then exec $bun test "$@"; fi

# The browser's tests run beside the others, because both wait more than they work; what they say comes last.
said=$(mktemp)
said_by_browser=$(mktemp)
failed=$(mktemp)
$bun test --timeout "$patience_ms" test/browser > "$said_by_browser" 2>&1 &
browser=$!
# A trap that ends with a failure would become the script's own exit code.
trap 'kill "$browser" 2> /dev/null || true; rm -f "$said" "$said_by_browser" "$failed"' EXIT
trap 'exit 130' INT TERM

{
  $bun test --timeout "$patience_ms" src bench $(find test -mindepth 1 -maxdepth 1 \( -type d ! -name browser -o -name '*.test.ts' \)) 2>&1 ||
    echo "$?" > "$failed"
} | tee "$said"
code=0
wait "$browser" || code=$?
cat "$said_by_browser"
if [ "$code" = 0 ] && [ ! -s "$failed" ]; then exit 0; fi

# Far above, between thousands of others, is why.
echo
echo 'What failed:'
grep -h -B 25 '^(fail)\|^# Unhandled error' "$said" "$said_by_browser" | grep -v '^(pass)' || true
exit 1
