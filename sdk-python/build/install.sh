#!/bin/sh
# Makes a Python environment in the cache with what builds the package (packaging.txt), and beside it the packages that programs
# with it need (dependencies.txt), where they are missing. With "--checks" also what checks it (requirements.txt).
set -eu
cd "$(dirname "$0")"
python=$(./python-path.sh)
venv=${python%/bin/python}
from_registry() { "$python" -m pip "$@" --quiet --disable-pip-version-check --require-hashes --only-binary :all:; }
if [ ! -e "$venv/complete" ]; then
  echo "python: installing what builds the package"
  rm -rf "$venv"
  python3 -m venv "$venv"
  from_registry install --requirement packaging.txt
  from_registry download --no-deps --dest "$venv/dependencies" --requirement dependencies.txt
  touch "$venv/complete"
fi
if [ "${1:-}" = --checks ] && [ ! -e "$venv/checks" ]; then
  echo "python: installing what checks the package"
  from_registry install --requirement requirements.txt
  touch "$venv/checks"
fi
