#!/bin/sh
# npm run check: formatting, lint, types and every test, from a fresh clone as well. Arguments go to the tests.
set -eu
cd "$(dirname "$0")/.."

. scripts/install-packages.sh

npm run --silent format
npm run --silent lint
npm run --silent types
exec sh scripts/test.sh "$@"
