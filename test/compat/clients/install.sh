#!/bin/sh
# Puts the clients of other products that tests run, for Node and for Python, into the cache where they are missing.
set -eu
cd "$(dirname "$0")"
../../../setup/npm/install-locked.sh "$PWD" compat-clients
for list in *.txt; do
  python=$(./python-path.sh "${list%.txt}")
  venv=${python%/bin/python}
  [ ! -e "$venv/complete" ] || continue
  echo "compat-clients: installing what $list names"
  rm -rf "$venv"
  python3 -m venv "$venv"
  "$python" -m pip install --quiet --disable-pip-version-check --require-hashes --only-binary :all: --requirement "$list"
  touch "$venv/complete"
done
