#!/bin/sh
# Runs a command while no other set-up runs on this machine for this user: they share the cache. SETUP_LOCK names
# another lock, for what takes minutes and shares nothing.
set -eu
cache="${XDG_CACHE_HOME:-$HOME/.cache}/sandhaven"
mkdir -p "$cache"
exec 9>"$cache/${SETUP_LOCK:-setup}.lock"
if ! flock --nonblock 9; then
  echo "setup: waiting for another set-up that is running"
  flock 9
fi
"$@"
