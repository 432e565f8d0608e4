#!/bin/sh
# Runs a command as on a machine that has never seen this project: /tmp, /var/tmp, /dev/shm and the home are empty, and
# the environment holds only the variables below. Toolchains, package caches and registry settings come from the
# real home, by name. A leftover file can then turn no run green. Needs root.
#   setup/clean-room.sh [--from-nothing] COMMAND...
# Of the project's own cache come copies of what takes minutes to make and stands under the digest or the version of its recipe: a
# changed recipe makes it anew. With "--from-nothing" all is made anew.
# /run stays the machine's: services keep their shared locks there.
set -eu
from_cache="base cluster compat-clients compat-suites documentdb dozen emulator grafana-schema helm image-libraries
  linted machines model-clients otel-collector prometheus python qemu runc verdaccio versitygw xfsprogs"
from_home=".cargo .rustup .npm .npmrc .config/pip .config/go"
variables="HOME LANG TERM http_proxy https_proxy no_proxy HTTP_PROXY HTTPS_PROXY NO_PROXY
  SSL_CERT_FILE SSL_CERT_DIR NODE_EXTRA_CA_CERTS PIP_INDEX_URL PIP_CERT
  GOPROXY GOSUMDB GONOSUMDB GOPRIVATE CARGO_HOME CARGO_HTTP_CAINFO RUSTUP_HOME RUSTUP_TOOLCHAIN RUSTUP_AUTO_INSTALL"
path=/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin

checkout=$(cd "$(dirname "$0")/.." && pwd -P)

from_nothing=""
if [ "${1:-}" = --from-nothing ]; then
  from_nothing=yes
  shift
fi

outside() {
  room=$(mktemp -d /var/lib/sandhaven-room.XXXXXX)
  trap 'rm -rf --one-file-system "$room"' EXIT
  trap 'exit 130' INT
  trap 'exit 143' TERM
  [ -n "$from_nothing" ] || copy_caches "$HOME/.cache/sandhaven" "$room/home/.cache/sandhaven"
  unshare --mount --propagation private -- "$0" --inside "$room" "$@"
}

# Copies, since a cache that the command changes would be changed for all. One that a set-up removes meanwhile is left out.
copy_caches() {
  [ -d "$1" ] || return 0
  mkdir -p "$2"
  for name in $from_cache; do
    [ ! -d "$1/$name" ] || cp -a "$1/$name" "$2/" 2>/dev/null || rm -rf "${2:?}/$name"
  done
}

# Uses a mount namespace of its own, which ends with the command: no mount of it shows on the machine.
inside() {
  room=$1
  shift
  mkdir -p "$room/tmp" "$room/var-tmp" "$room/home/tmp" "$room/checkout"
  chmod 1777 "$room/tmp" "$room/var-tmp" "$room/home/tmp"
  for name in $from_home; do copy_in "$HOME/$name" "$room/home/$name"; done
  mount --rbind "$checkout" "$room/checkout"
  mount -t tmpfs -o mode=1777 tmpfs /dev/shm
  mount --rbind "$room/home" "$HOME"
  mount --bind "$room/var-tmp" /var/tmp
  mount --bind "$room/tmp" /tmp
  # The new mounts may cover the checkout's folder.
  [ -e "$checkout/Makefile" ] || copy_in "$room/checkout" "$checkout"
  cd "$checkout"
  run_with_listed_variables "$@"
}

# Copies by a bind mount; skips a missing source.
copy_in() {
  [ -e "$1" ] || return 0
  mkdir -p "$(dirname "$2")"
  if [ -d "$1" ]; then mkdir -p "$2"; else : >"$2"; fi
  mount --rbind "$1" "$2"
}

run_with_listed_variables() {
  for name in $variables; do
    eval "value=\${$name-}"
    [ -z "$value" ] || set -- "$name=$value" "$@"
  done
  # TMPDIR is beside the caches, on one mount: no hard link leads from one mount to another.
  exec env --ignore-environment PATH="$path:$HOME/.cargo/bin" TMPDIR="$HOME/tmp" "$@"
}

if [ "${1:-}" = --inside ]; then
  shift
  inside "$@"
else
  outside "$@"
fi
