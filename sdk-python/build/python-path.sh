#!/bin/sh
# Prints where the Python that builds and checks the package is, or will be: another one for each list of packages.
set -eu
cd "$(dirname "$0")"
cache="${XDG_CACHE_HOME:-$HOME/.cache}/sandhaven/python"
list=$({ python3 -c 'import sys; print(sys.version, sys.base_prefix)' && cat ./*.txt; } | sha256sum | cut -c 1-16)
echo "$cache/$list/bin/python"
