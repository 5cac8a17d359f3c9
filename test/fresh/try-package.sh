# Run by fresh.sh in a clean Debian: the package in /packed is installed, started as its unit says, upgraded, removed and purged.
# There is no systemd here, so the service is started by hand.
unit=/usr/lib/systemd/system/gatehouse.service
settings=/etc/gatehouse/gatehouse.env
data=/var/lib/gatehouse
export DEBIAN_FRONTEND=noninteractive

step() { echo "package: $1"; }

# same WHAT FOUND EXPECTED
same() {
  [ "$2" = "$3" ] || { echo "package: $1 is \"$2\", not \"$3\"" >&2; exit 1; }
}

missing() {
  for path in "$@"; do [ ! -e "$path" ] || { echo "package: $path is left" >&2; exit 1; }; done
}

# (run_unit FILE): becomes what its ExecStart names, with its environment, as its user.
run_unit() {
  user=$(sed -n 's/^User=//p' "$1")
  environment=$(sed -n 's/^Environment=//p' "$1" | sed 's|%S|/var/lib|')
  command=$(sed -n 's/^ExecStart=//p' "$1")
  set -a
  . "$settings"
  set +a
  umask 077
  cd /
  exec setpriv --reuid="${user:-root}" --regid="${user:-root}" --clear-groups --no-new-privs env $environment $command
}

serve_once() {
  run_unit "$unit" > /tmp/log 2>&1 &
  service=$!
  for _ in $(seq 100); do
    if grep -q 'listening on' /tmp/log; then break; fi
    kill -0 "$service" 2> /dev/null || { cat /tmp/log >&2; exit 1; }
    sleep 0.2
  done
  sh -c "$(grep -o 'curl .*' /tmp/log | head -n 1)" 2> /dev/null | grep -q '"Name":' || { cat /tmp/log >&2; exit 1; }
  # As docs/deploying.md says.
  (set -a; . "$settings"; GATEHOUSE_DATA_DIR=$data; set +a; gatehouse doctor > /tmp/doctor) || { cat /tmp/doctor >&2; exit 1; }
  (run_unit /usr/lib/systemd/system/gatehouse-backup.service > /dev/null)
  kill "$service"
  wait "$service"
}

step 'installs'
apt-get update -qq
apt-get install -y -qq --no-install-recommends curl > /dev/null
apt-get install -y -qq --no-install-recommends /packed/*.deb > /tmp/apt 2>&1 || { cat /tmp/apt >&2; exit 1; }
same 'the data folder' "$(stat -c '%U %G %a' $data)" 'gatehouse gatehouse 700'
same 'the file of settings' "$(stat -c '%U %a' $settings)" 'root 600'
same 'the shell of the user' "$(getent passwd gatehouse | cut -d : -f 7)" /usr/sbin/nologin
[ "$(id -u gatehouse)" -lt 1000 ]
[ -L /etc/systemd/system/multi-user.target.wants/gatehouse.service ]

step 'starts, answers, is healthy, and is backed up'
install -d -m 700 /var/backups/gatehouse
serve_once
same 'the owner of the database' "$(stat -c '%U %a' $data/gatehouse.db)" 'gatehouse 600'
[ -e /var/backups/gatehouse/gatehouse-backup-*.archive.db ]

step 'is upgraded: changed settings and data stay'
key=$(cat $data/demo.key)
echo GATEHOUSE_LOG_FORMAT=pretty >> $settings
changed=$(cat $settings)
dpkg-deb --raw-extract /packed/*.deb /tmp/newer
sed -i 's/^Version: .*/&+newer/' /tmp/newer/DEBIAN/control
echo '#GATEHOUSE_PORT=8080' >> /tmp/newer/etc/gatehouse/gatehouse.env
dpkg-deb --root-owner-group -Znone --build /tmp/newer /tmp/newer.deb > /dev/null
dpkg --force-confdef --force-confold --install /tmp/newer.deb > /tmp/dpkg 2>&1 || { cat /tmp/dpkg >&2; exit 1; }
same 'the settings' "$(cat $settings)" "$changed"
serve_once
same 'the key' "$(cat $data/demo.key)" "$key"

step 'is removed: settings and data stay'
apt-get remove -y -qq gatehouse > /dev/null
missing /usr/bin/gatehouse $unit
same 'the settings' "$(cat $settings)" "$changed"
same 'the key' "$(cat $data/demo.key)" "$key"

step 'is installed again: it goes on'
apt-get install -y -qq /packed/*.deb -o Dpkg::Options::=--force-confold > /tmp/apt 2>&1 || { cat /tmp/apt >&2; exit 1; }
serve_once
same 'the key' "$(cat $data/demo.key)" "$key"

step 'is purged: only backups and the user are left'
apt-get purge -y -qq gatehouse > /dev/null
missing /usr/bin/gatehouse /etc/gatehouse $data /etc/systemd/system/multi-user.target.wants/gatehouse.service
left=$(find / -xdev -name '*gatehouse*' -not -path '/packed/*' -not -path '/proc/*' -not -path '/tmp/*' -not -path '/var/cache/*')
same 'what is left' "$(echo "$left" | grep -v ^/var/backups/gatehouse)" ''
id gatehouse > /dev/null
