# For scripts/test.sh, which reads it: installs the programs that the tests start, with apt where that is possible.
as_root=
if [ "$(id -u)" != 0 ]; then as_root='sudo -n'; fi

# install_together FUNCTION: in one go, which is several times faster, what the function asks for with the words below. What
# cannot be installed so is left for a call of the function itself, which tries each package alone.
install_together() {
  packages= services= is_collecting=yes
  "$1"
  is_collecting=
  if [ -z "$packages" ] || ! can_install; then return; fi
  echo "Installing$packages, which tests need" >&2
  apt_install $packages || return 0
  for service in $services; do stop_service "$service"; done
}

# must_have 'PROGRAM...' PACKAGE [SERVICE]: one of the programs, or the run ends here with a sentence.
must_have() {
  if has_one_of $1 || install_package "$2" "${3-}"; then return; fi
  echo "The tests need $(echo "$1" | sed 's/ / or /g'), which is not installed and cannot be installed from here: install it, then run them again." >&2
  exit 1
}

# PostgreSQL. Debian keeps its programs outside of the path, and creates and starts a database cluster unless it is told not
# to; the tests create their own.
must_have_postgres() {
  # It is installed alone, with a setting of its own.
  if [ -n "${is_collecting-}" ]; then return; fi
  if has_one_of "${postgres_programs-/usr/lib/postgresql}"/*/bin/postgres postgres; then return; fi
  settings=${postgres_settings-/etc/postgresql-common/createcluster.d}
  if can_install; then
    $as_root mkdir -p "$settings"
    echo 'create_main_cluster = false' | $as_root tee "$settings/gatehouse-tests.conf" > /dev/null
    install_package postgresql postgresql || true
    $as_root rm -f "$settings/gatehouse-tests.conf"
  fi
  if has_one_of "${postgres_programs-/usr/lib/postgresql}"/*/bin/postgres postgres; then return; fi
  echo "The tests need PostgreSQL 15 or newer, which is not installed and cannot be installed from here: install its server, then run them again." >&2
  exit 1
}

# want PROGRAM PACKAGE [SERVICE]: without it, the tests that need it are skipped and say so (test/needs.ts).
want() {
  has_one_of "$1" || install_package "$2" "${3-}" || true
}

# want_python_module MODULE PACKAGE: for one of the Pythons here, python3 or the system's own; else as above.
want_python_module() {
  for python in python3 "${system_python-/usr/bin/python3}"; do
    if "$python" -c "import $1" > /dev/null 2>&1; then return 0; fi
  done
  install_package "$2" '' || true
}

has_one_of() {
  for program in "$@"; do
    if command -v "$program" > /dev/null; then return 0; fi
  done
  return 1
}

can_install() {
  command -v apt-get > /dev/null && $as_root true 2> /dev/null
}

install_package() {
  if [ -n "${is_collecting-}" ]; then
    packages="$packages $1" services="$services ${2-}"
    return
  fi
  if ! can_install; then return 1; fi
  echo "Installing $1, which tests need" >&2
  apt_install "$1" || return 1
  if [ -n "$2" ]; then stop_service "$2"; fi
}

apt_install() {
  if run_apt install "$@" 2> /dev/null; then return; fi
  # The list of packages may be missing, or name versions that are gone.
  if [ -z "${is_list_new-}" ]; then run_apt update || true; fi
  is_list_new=yes
  run_apt install "$@"
}

run_apt() {
  $as_root env DEBIAN_FRONTEND=noninteractive \
    apt-get -y -qq --no-install-recommends -o Dpkg::Use-Pty=0 "$@" > /dev/null
}

# Tests start processes of their own: a service that came with the package was not asked for.
stop_service() {
  if [ -d /run/systemd/system ]; then
    $as_root systemctl disable --quiet --now "$1" || true
  else
    $as_root service "$1" stop > /dev/null 2>&1 || true
  fi
}
