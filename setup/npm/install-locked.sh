#!/bin/sh
# Installs what a folder's package-lock.json names into the cache, when it is missing there or another.
#   setup/npm/install-locked.sh FOLDER NAME
# NAME is the folder of the cache.
set -eu
cd "$1"
cache="${XDG_CACHE_HOME:-$HOME/.cache}/sandhaven/$2"
mkdir -p "$cache"
[ ! -e "$cache/installed" ] || ! cmp -s package-lock.json "$cache/installed" || exit 0
cp package.json package-lock.json "$cache"
echo "$2: installing what $1/package-lock.json names"
npm ci --prefix "$cache" --ignore-scripts --no-audit --no-fund --loglevel=error
cp package-lock.json "$cache/installed"
