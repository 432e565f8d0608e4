#!/bin/sh
# Lets cargo build for another processor than the machine's (aarch64, x86_64): Debian's cross compiler as the linker, and
# Rust's standard library for it, by rustup where that brought the compiler, else Debian's.
set -eu
cd "$(dirname "$0")/../.."
processor=$1
[ "$processor" != "$(uname -m)" ] || exit 0
case "$processor" in
  aarch64) compiler=gcc-aarch64-linux-gnu debian=arm64 ;;
  x86_64) compiler=gcc-x86-64-linux-gnu debian=amd64 ;;
  *) echo "rust: no such processor: $processor" >&2; exit 1 ;;
esac
setup/apt.sh "$compiler" "libc6-dev-$debian-cross"
target="$processor-unknown-linux-gnu"
[ ! -d "$(rustc --print sysroot)/lib/rustlib/$target/lib" ] || exit 0
if command -v rustup >/dev/null; then
  echo "rust: adding $target by rustup"
  rustup --quiet target add "$target"
else
  "$(setup/node-path.sh)" setup/processors/rust-library.ts "$debian"
fi
