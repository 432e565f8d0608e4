#!/bin/sh
# Finds a Rust that can build native/ (PATH, then rustup's place), else installs Debian's.
# With "--checks" also requires the formatter and the linter.
set -eu
minimum=1.85
PATH="$PATH:$HOME/.cargo/bin"
recent() {
  version=$(rustc --version 2>/dev/null | cut -d' ' -f2) || return 1
  [ -n "$version" ] && [ "$(printf '%s\n' "$minimum" "$version" | sort -V | head -1)" = "$minimum" ]
}
complete() {
  command -v cargo >/dev/null && recent &&
    { [ "${1:-}" != --checks ] || { cargo fmt --version && cargo clippy --version; } >/dev/null 2>&1; }
}
if complete "$@"; then exit 0; fi
if command -v rustup >/dev/null; then
  echo "rust: adding what is missing by rustup"
  rustup toolchain install stable --profile minimal --component rustfmt --component clippy >/dev/null
else
  # Debian keeps this compiler current for its web browsers; the regular one is too old in Debian 12.
  if [ "${1:-}" = --checks ]; then
    setup/apt.sh gcc libc6-dev rustc-web cargo-web rustfmt-web rust-web-clippy
  else
    setup/apt.sh gcc libc6-dev rustc-web cargo-web
  fi
fi
if ! complete "$@"; then
  echo "rust: a Rust of version $minimum or later is needed, with cargo, rustfmt and clippy" >&2
  exit 1
fi
