# For the scripts beside it, which read it from the root of the project: installs the npm packages of development where they
# are missing. A start of Gatehouse installs fewer.
if [ ! -x node_modules/.bin/bun ] || [ ! -d node_modules/erlc-api ]; then
  npm ci --no-audit --no-fund --loglevel=error
fi
