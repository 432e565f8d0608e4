#!/bin/sh
# Installs the dependencies that package-lock.json names, Node itself among them, when they are missing.
set -eu
cd "$(dirname "$0")/.."
node=$(setup/node-path.sh) || node=""
if [ -n "$node" ] && "$node" setup/dependencies-match.ts 2>/dev/null; then exit 0; fi
command -v npm >/dev/null || setup/apt.sh npm
echo "dependencies: installing what package-lock.json names"
install() { npm ci --ignore-scripts --no-audit --no-fund --loglevel=error; }
install
# Node is an optional package, since each processor has its own: npm leaves it out without a word when its download breaks off.
setup/node-path.sh >/dev/null || install
setup/node-path.sh >/dev/null || {
  echo "dependencies: npm did not install Node (node-linux-*): look at its log in ~/.npm/_logs, and run this again" >&2
  exit 1
}
