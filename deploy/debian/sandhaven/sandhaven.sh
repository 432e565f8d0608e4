#!/bin/sh
# The command, with the package's settings where the environment has none.
set -eu
if [ "$(id -u)" = 0 ]; then
  : "${SANDHAVEN_CONFIG=/etc/sandhaven/config.yaml}" "${SANDHAVEN_CACHE_DIR=/var/cache/sandhaven}"
  : "${NODE_COMPILE_CACHE=/var/cache/sandhaven/node}"
  export SANDHAVEN_CONFIG SANDHAVEN_CACHE_DIR NODE_COMPILE_CACHE
elif [ -z "${SANDHAVEN_DATA_DIR:-}" ] && [ -r /run/sandhaven-key/api-key ]; then
  # Members of the group sandhaven use the key of this machine's service.
  export SANDHAVEN_DATA_DIR=/run/sandhaven-key
fi
exec /usr/lib/sandhaven/bin/sandhaven "$@"
