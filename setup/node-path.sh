#!/bin/sh
# Prints the path of the Node that npm installed; fails when it is missing.
set -eu
home=$(cd "$(dirname "$0")/.." && pwd)
case "$(uname -m)" in
  x86_64) arch=x64 ;;
  aarch64) arch=arm64 ;;
  *) echo "setup: this processor ($(uname -m)) is not supported" >&2; exit 1 ;;
esac
node="$home/node_modules/node-linux-$arch/bin/node"
[ -x "$node" ] || exit 1
echo "$node"
