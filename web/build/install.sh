#!/bin/sh
# Installs the packages of the page that web/package-lock.json names, when they are missing.
set -eu
cd "$(dirname "$0")/../.."
node=$(setup/node-path.sh)
if "$node" setup/dependencies-match.ts web 2>/dev/null; then exit 0; fi
echo "page: installing what web/package-lock.json names"
npm --prefix web ci --ignore-scripts --no-audit --no-fund --loglevel=error
