#!/bin/sh
# Puts the clients of language models that tests run, for Node and for Python, into the cache when they are missing.
set -eu
cd "$(dirname "$0")"
../../../../setup/npm/install-locked.sh "$PWD" model-clients
python=$(./python-path.sh)
venv=${python%/bin/python}
[ ! -e "$venv/complete" ] || exit 0
echo "model-clients: installing what requirements.txt names"
rm -rf "$venv"
python3 -m venv "$venv"
"$python" -m pip install --quiet --disable-pip-version-check --require-hashes --only-binary :all: \
  --requirement requirements.txt
touch "$venv/complete"
