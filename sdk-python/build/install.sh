#!/bin/sh
# Makes a Python environment in the cache with what requirements.txt names, when it is missing.
set -eu
cd "$(dirname "$0")"
python=$(./python-path.sh)
venv=${python%/bin/python}
[ ! -e "$venv/complete" ] || exit 0
echo "python: installing what sdk-python/build/requirements.txt names"
rm -rf "$venv"
python3 -m venv "$venv"
"$python" -m pip install --quiet --disable-pip-version-check --require-hashes --only-binary :all: \
  --requirement requirements.txt
touch "$venv/complete"
