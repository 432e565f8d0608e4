#!/bin/sh
# Prints where the Python with the packages of NAME.txt is, or will be: another one for each list of packages.
#   test/compat/clients/python-path.sh NAME
set -eu
cd "$(dirname "$0")"
cache="${XDG_CACHE_HOME:-$HOME/.cache}/sandhaven/compat-clients"
list=$({ python3 -c 'import sys; print(sys.version, sys.base_prefix)' && cat "$1.txt"; } | sha256sum | cut -c 1-16)
echo "$cache/$1-$list/bin/python"
