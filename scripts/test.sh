#!/bin/sh
# npm test: installs what the tests need, then runs every test. Arguments go to the test runner.
set -eu
cd "$(dirname "$0")/.."

if [ ! -x node_modules/.bin/bun ]; then
  npm ci --no-audit --no-fund --loglevel=error
fi

exec node_modules/.bin/bun --no-env-file test "$@"
