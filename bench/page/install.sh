#!/bin/sh
# Installs what bench/page/package-lock.json names, a project of its own, when it is missing or another.
set -eu
cd "$(dirname "$0")"
[ ! node_modules/.package-lock.json -nt package-lock.json ] || exit 0
npm ci --ignore-scripts --loglevel=error
touch node_modules/.package-lock.json
