#!/bin/sh
# Prepares a Debian machine to build and run everything; quick and silent where nothing is missing.
# With "--checks" also what only the tests need.
set -eu
cd "$(dirname "$0")/.."
setup/apt.sh ca-certificates debian-archive-keyring e2fsprogs gcc iproute2 libc6-dev libjemalloc2 mmdebstrap \
  nftables patchelf procps python3-venv skopeo zstd
[ "${1:-}" != --checks ] || setup/apt.sh chromium curl default-jre-headless docker-registry firefox-esr git golang-go \
  htop nginx openssh-client openssl postgresql rsync tmux umoci vim
setup/node.sh
setup/rust.sh "$@"
node=$(setup/node-path.sh)
"$node" setup/runc.ts
