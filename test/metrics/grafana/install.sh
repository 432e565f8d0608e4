#!/bin/sh
# Installs what package-lock.json here names into the cache, a project of its own, when it is missing or another.
set -eu
cd "$(dirname "$0")"
cache="${XDG_CACHE_HOME:-$HOME/.cache}/sandhaven/grafana-schema"
mkdir -p "$cache"
[ ! -e "$cache/installed" ] || ! cmp -s package-lock.json "$cache/installed" || exit 0
cp package.json package-lock.json "$cache"
echo "Grafana's types: installing what their package-lock.json names"
npm ci --prefix "$cache" --ignore-scripts --no-audit --no-fund --loglevel=error
cp package-lock.json "$cache/installed"
