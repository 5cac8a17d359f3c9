#!/bin/sh
# npm test: installs what the tests need, then runs every test. Arguments go to the test runner.
set -eu
cd "$(dirname "$0")/.."

# npm start installs fewer packages than the tests need.
if [ ! -x node_modules/.bin/bun ] || [ ! -d node_modules/fast-check ]; then
  npm ci --no-audit --no-fund --loglevel=error
fi

as_root=
if [ "$(id -u)" != 0 ]; then as_root='sudo -n'; fi

# Installs a system package, or says what is missing and stops.
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
  # The package may have started a service, which is not wanted.
  if [ -d /run/systemd/system ]; then
    $as_root systemctl disable --quiet --now redis-server || true
  else
    $as_root service redis-server stop > /dev/null 2>&1 || true
  fi
fi

# The tests of the dashboard use a real browser.
if ! command -v chromium > /dev/null && ! command -v chromium-browser > /dev/null && ! command -v google-chrome > /dev/null; then
  need chromium chromium
fi

node_modules/.bin/bun --no-env-file scripts/build-dashboard.ts --quiet

bun='node_modules/.bin/bun --no-env-file'
# The default timeout of a test, long enough for a busy machine.
timeout_ms=20000

if [ $# -gt 0 ]; then exec $bun test "$@"; fi

# The browser tests run in parallel with the others, because both wait more than they compute. Their output comes last.
output=$(mktemp)
browser_output=$(mktemp)
failed=$(mktemp)
$bun test --timeout "$timeout_ms" test/browser > "$browser_output" 2>&1 &
browser=$!
# A failing command in the trap would change the exit code of the script.
trap 'kill "$browser" 2> /dev/null || true; rm -f "$output" "$browser_output" "$failed"' EXIT
trap 'exit 130' INT TERM

{
  $bun test --timeout "$timeout_ms" src bench $(find test -mindepth 1 -maxdepth 1 \( -type d ! -name browser -o -name '*.test.ts' \)) 2>&1 ||
    echo "$?" > "$failed"
} | tee "$output"
code=0
wait "$browser" || code=$?
cat "$browser_output"
if [ "$code" = 0 ] && [ ! -s "$failed" ]; then exit 0; fi

# The reasons are far above, between thousands of lines.
echo
echo 'What failed:'
grep -h -B 25 '^(fail)\|^# Unhandled error' "$output" "$browser_output" | grep -v '^(pass)' || true
exit 1
