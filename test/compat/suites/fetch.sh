#!/bin/sh
# Copies the public suites of Daytona's clients, at the tag that the list of digests names, from a checkout of the repository
# daytona/clients in $SANDHAVEN_COMPAT_SUITES into the cache. Their text is not the project's, so none of it is here. Without
# them it prints why they are missing.
set -eu
cd "$(dirname "$0")"
list=$PWD/daytona-0.205.1.sha256
cache="${XDG_CACHE_HOME:-$HOME/.cache}/sandhaven/compat-suites/daytona-0.205.1"
holds_all() { (cd "$1" 2>/dev/null && sha256sum --check --quiet --strict "$list" >/dev/null 2>&1); }
! holds_all "$cache" || exit 0
from=${SANDHAVEN_COMPAT_SUITES:-}
if [ -z "$from" ]; then
  echo "missing: SANDHAVEN_COMPAT_SUITES names no checkout of daytona/clients at v0.205.1"
elif ! holds_all "$from"; then
  echo "missing: $from does not have the files of daytona/clients at v0.205.1"
else
  rm -rf "$cache"
  while read -r _ file; do
    mkdir -p "$cache/$(dirname "$file")"
    cp "$from/$file" "$cache/$file"
  done <"$list"
fi
