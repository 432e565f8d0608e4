#!/bin/sh
# Runs cargo in native/ for the processor of this machine, or for the one that PROCESSOR names (aarch64, x86_64), with
# Debian's cross compiler as the linker. Programs are at native/target/<processor>-unknown-linux-gnu/ always.
set -eu
cd "$(dirname "$0")/../../native"
here=$(uname -m)
processor=${PROCESSOR:-$here}
export CARGO_BUILD_TARGET="$processor-unknown-linux-gnu"
if [ "$processor" != "$here" ]; then
  variable=$(echo "CARGO_TARGET_${CARGO_BUILD_TARGET}_LINKER" | tr 'a-z-' 'A-Z_')
  export "$variable=$processor-linux-gnu-gcc"
  # Where the compiler itself lacks the standard library, setup/processors/rust-target.sh has fetched it.
  cache=${SANDHAVEN_CACHE_DIR:-${XDG_CACHE_HOME:-$HOME/.cache}/sandhaven}
  library="$cache/rust-library/$(rustc --version | cut -d' ' -f2)-$processor/usr"
  if [ -d "$library" ]; then export "${variable%LINKER}RUSTFLAGS=--sysroot=$library"; fi
fi
# Without make's own flags: cargo would look for a job server that is not for it.
exec env -u MAKEFLAGS cargo "$@"
