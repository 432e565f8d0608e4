#!/bin/sh
# Installs the dependencies that package-lock.json names, Node itself among them, when they are missing.
set -eu
cd "$(dirname "$0")/.."
node=$(setup/node-path.sh) || node=""
if [ -n "$node" ] && "$node" setup/dependencies-match.ts 2>/dev/null; then exit 0; fi
command -v npm >/dev/null || setup/apt.sh npm
echo "dependencies: installing what package-lock.json names"
npm ci --ignore-scripts --no-audit --no-fund --loglevel=error
setup/node-path.sh >/dev/null
