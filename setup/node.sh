#!/bin/sh
# Installs the dependencies that package-lock.json names, Node itself among them, when they are missing. Then makes what the
# sources import and the repository does not have.
set -eu
cd "$(dirname "$0")/.."
present() { node=$(setup/node-path.sh) && "$node" setup/dependencies-match.ts 2>/dev/null; }
install() { npm ci --ignore-scripts --no-audit --no-fund --loglevel=error; }
if ! present; then
  command -v npm >/dev/null || setup/apt.sh npm
  echo "dependencies: installing what package-lock.json names"
  install
  # Node is an optional package, since each processor has its own: npm leaves it out without a word when its download breaks off.
  setup/node-path.sh >/dev/null || install
  node=$(setup/node-path.sh) || {
    echo "dependencies: npm did not install Node (node-linux-*): look at its log in ~/.npm/_logs, and run this again" >&2
    exit 1
  }
fi
"$node" setup/generate.ts --at-set-up
