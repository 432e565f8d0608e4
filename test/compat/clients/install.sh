#!/bin/sh
# Puts the clients of other products that tests run, for Node and for Python, into the cache where they are missing.
#   test/compat/clients/install.sh PYTHON...
# PYTHON is a list of packages beside this file, without its ending.
set -eu
cd "$(dirname "$0")"
../../../setup/npm/install-locked.sh "$PWD" compat-clients
for list in "$@"; do
  python=$(./python-path.sh "$list")
  venv=${python%/bin/python}
  [ ! -e "$venv/complete" ] || continue
  echo "compat-clients: installing what $list.txt names"
  rm -rf "$venv"
  python3 -m venv "$venv"
  "$python" -m pip install --quiet --disable-pip-version-check --require-hashes --only-binary :all: --requirement "$list.txt"
  touch "$venv/complete"
done
