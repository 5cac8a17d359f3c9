#!/bin/sh
# npm run test:fresh: does what people do first, in a Debian made by debootstrap that has nothing else. Needs root, a network and
# minutes, so npm test does not run it. start and check try what is committed. Everything is in one folder, deleted at the end.
# Not tried: systemd itself, Docker's engine and its compose, and other architectures than this machine's.
set -eu
cd "$(dirname "$0")/../.."

usage='usage: npm run test:fresh -- [--only start|check|package|image]... [--base FOLDER] [--suite NAME]
  start    npm start, as in the README, and the line that it prints
  check    npm run check, as in the README: every test, and the programs that they need (15 minutes or more)
  package  the Debian package: installed, started, upgraded, removed and purged
  image    the container image: built by buildah, run by podman
  --base   a folder made by debootstrap --variant=minbase, copied instead of making one
  --suite  the release of Debian to make, bookworm by default'

parts=
base=
suite=bookworm
while [ $# -gt 0 ]; do
  case $1,${2-} in
    --only,start | --only,check | --only,package | --only,image) parts="$parts $2" ;;
    --base,?*) base=$(realpath "$2") ;;
    --suite,?*) suite=$2 ;;
    *) echo "$usage" >&2; exit 2 ;;
  esac
  shift 2
done
parts=${parts:-start check package image}

needed='git curl unshare'
if [ -z "$base" ]; then needed="$needed debootstrap"; fi
case $parts in *image*) needed="$needed buildah podman" ;; esac
for program in $needed; do
  command -v "$program" > /dev/null || { echo "test:fresh needs $program, which is not installed" >&2; exit 1; }
done
if [ "$(id -u)" != 0 ]; then echo 'test:fresh needs root: it makes root file systems' >&2; exit 1; fi

work=$(mktemp -d "${TMPDIR:-/tmp}/gatehouse-fresh-XXXXXX")
started=
clean_up() {
  end_started
  case $parts in *image*) in_store podman rm --all --force > /dev/null 2>&1 || true ;; esac
  delete "$work"
}
trap clean_up EXIT
trap 'exit 130' INT TERM

# unshare does not end at other signals; what it has started ends with it.
end_started() {
  if [ -n "$started" ]; then
    kill -KILL "$started" 2> /dev/null || true
    wait "$started" 2> /dev/null || true
  fi
  started=
}

# What was killed may write for another moment.
delete() {
  for _ in 1 2 3 4 5; do
    if rm -rf --one-file-system "$1" 2> /dev/null; then return; fi
    sleep 1
  done
  rm -rf --one-file-system "$1"
}

fail() {
  echo "test:fresh: $1" >&2
  if [ -n "${2-}" ]; then tail -n 40 "$2" >&2; fi
  exit 1
}

# (inside ROOT COMMAND...): becomes it, in this root, with mounts and processes of its own that end with it.
inside() {
  exec unshare --mount --pid --fork --kill-child sh -c '
    root=$1; shift
    mount -t proc proc "$root/proc"
    mount --rbind /sys "$root/sys"
    mount --rbind /dev "$root/dev"
    chroot "$root" env -i PATH=/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin HOME=/root LANG=C.UTF-8 \
      NODE_EXTRA_CA_CERTS=/etc/ssl/certs/ca-certificates.crt GATEHOUSE_PORT=0 "$@"' sh "$@"
}

# A copy of the clean Debian, which reaches and trusts what this machine does.
make_root() {
  cp -a "$base" "$work/$1"
  mkdir -p "$work/$1/etc/ssl/certs"
  cp -L /etc/resolv.conf /etc/hosts "$work/$1/etc/"
  cp -L /etc/ssl/certs/ca-certificates.crt "$work/$1/etc/ssl/certs/"
}

# This machine's Node and npm: that of Debian 12 is too old.
add_node() {
  mkdir -p "$1/usr/local/bin" "$1/usr/local/lib/node_modules"
  cp "$(node -p process.execPath)" "$1/usr/local/bin/node"
  cp -r "$(npm root --global 2> /dev/null)/npm" "$1/usr/local/lib/node_modules/npm"
  ln -s ../lib/node_modules/npm/bin/npm-cli.js "$1/usr/local/bin/npm"
}

clone_into() {
  git clone --quiet --depth 1 "file://$PWD" "$1/gatehouse"
}

# wait_for WORDS FILE: until the started process has written them.
wait_for() {
  for _ in $(seq 600); do
    if grep -q "$1" "$2"; then return; fi
    kill -0 "$started" 2> /dev/null || fail "the process ended before it wrote: $1" "$2"
    sleep 1
  done
  fail "ten minutes have passed without: $1" "$2"
}

# try_printed_line FILE: the line to try, as it was printed, and the page.
try_printed_line() {
  line=$(grep -o 'curl .*' "$1" | head -n 1)
  sh -c "$line" 2> /dev/null | grep -q '"Name":' || fail "this line does not read the server: $line" "$1"
  url=$(grep -o 'listening on http://[^ ]*' "$1" | head -n 1 | cut -d ' ' -f 3)
  curl --silent --fail "$url/" | grep -q '<script' || fail 'there is no dashboard' "$1"
}

try_start() {
  make_root start
  add_node "$work/start"
  clone_into "$work/start"
  inside "$work/start" sh -c 'cd /gatehouse && npm start' > "$work/start.log" 2>&1 &
  started=$!
  wait_for 'listening on' "$work/start.log"
  try_printed_line "$work/start.log"
  end_started
}

try_check() {
  make_root check
  add_node "$work/check"
  clone_into "$work/check"
  (inside "$work/check" sh -c 'cd /gatehouse && npm run check') || fail 'npm run check has failed'
}

try_package() {
  make_root package
  npm run --silent build -- --target host --deb --outdir "$work/package/packed"
  cp test/fresh/try-package.sh "$work/package/"
  (inside "$work/package" sh -eu /try-package.sh) || fail 'the package has failed: the last line above names the step'
}

in_store() {
  program=$1; shift
  "$program" --root "$work/images" --runroot "$work/run" "$@"
}

try_image() {
  make_root image
  add_node "$work/image"
  tar -C "$work/image" -c . | in_store podman import --quiet \
    --change 'ENV NODE_EXTRA_CA_CERTS=/etc/ssl/certs/ca-certificates.crt' - localhost/gatehouse-build > "$work/image.log" 2>&1 ||
    fail 'the image to build in was not made' "$work/image.log"
  in_store buildah bud --format docker --network host --build-arg BUILD_BASE=localhost/gatehouse-build --tag localhost/gatehouse \
    . > "$work/image.log" 2>&1 || fail 'the image was not built' "$work/image.log"
  size=$(in_store podman image inspect --format '{{.Size}}' localhost/gatehouse)
  echo "the image has $((size / 1000000)) MB"
  [ "$size" -lt 150000000 ] || fail 'that is more than 150 MB'

  run='podman run --name gatehouse --network host --read-only --cap-drop all --security-opt no-new-privileges --volume data:/data'
  in_store $run --env GATEHOUSE_HOST=127.0.0.1 --env GATEHOUSE_PORT=0 localhost/gatehouse > "$work/image.log" 2>&1 &
  started=$!
  wait_for 'listening on' "$work/image.log"
  try_printed_line "$work/image.log"
  in_store podman healthcheck run gatehouse || fail 'the health check says no' "$work/image.log"
  in_store podman exec gatehouse /gatehouse backup /data/monday.db > /dev/null || fail 'there is no backup' "$work/image.log"
  user=$(in_store podman top gatehouse huser | tail -n 1)
  [ "$user" = 65532 ] || fail "it runs as $user"
  in_store podman stop gatehouse > /dev/null
  wait "$started" || fail "its exit code is $?" "$work/image.log"
  started=
}

if [ -z "$base" ]; then
  base=$work/base
  echo "making a Debian $suite"
  debootstrap --variant=minbase "$suite" "$base" > "$work/base.log" 2>&1 || fail 'debootstrap has failed' "$work/base.log"
fi
for part in $parts; do
  echo "== $part"
  begun=$(date +%s)
  "try_$part"
  echo "== $part: works, $(($(date +%s) - begun)) s"
  delete "$work/$part"
done
