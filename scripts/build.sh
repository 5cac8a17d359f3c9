#!/bin/sh
# npm run build: installs what the build needs, then makes the binaries. Passes its arguments to build.ts.
set -eu
here=$(pwd)
cd "$(dirname "$0")/.."

if [ ! -x node_modules/.bin/bun ]; then
  npm ci --no-audit --no-fund --loglevel=error
fi

root=$(pwd)
cd "$here"
exec "$root/node_modules/.bin/bun" --no-env-file "$root/scripts/build.ts" "$@"
