#!/bin/sh
# Prints where the Python with the clients of language models is, or will be: another one for each list of packages.
set -eu
cd "$(dirname "$0")"
cache="${XDG_CACHE_HOME:-$HOME/.cache}/sandhaven/model-clients"
list=$({ python3 -c 'import sys; print(sys.version, sys.base_prefix)' && cat requirements.txt; } | sha256sum | cut -c 1-16)
echo "$cache/python-$list/bin/python"
