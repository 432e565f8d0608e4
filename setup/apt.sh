#!/bin/sh
# Installs the missing ones of the named Debian packages; silent when none is missing.
set -eu
installed=$(dpkg-query --show --showformat '${db:Status-Status} ${Package}\n' "$@" 2>/dev/null || true)
missing=""
for package in "$@"; do
  echo "$installed" | grep -qx "installed $package" || missing="$missing $package"
done
[ -n "$missing" ] || exit 0
if [ "$(id -u)" != 0 ]; then
  echo "setup: root is needed to install:$missing" >&2
  exit 1
fi
echo "packages: installing$missing"
export DEBIAN_FRONTEND=noninteractive
said=$(mktemp)
# Keeps packages from starting their services (a registry, say): policy-rc.d has the last word on that.
policy=/usr/sbin/policy-rc.d
trap 'rm -f "$said" ${made:+"$made"}' EXIT
if [ ! -e "$policy" ]; then
  made=$policy
  printf '#!/bin/sh\nexit 101\n' >"$policy"
  chmod 755 "$policy"
fi
quietly() { "$@" >"$said" 2>&1 || { cat "$said" >&2; return 1; }; }
quietly apt-get update -qq
# shellcheck disable=SC2086
quietly apt-get install -qq --yes --no-install-recommends -o Dpkg::Use-Pty=0 $missing
