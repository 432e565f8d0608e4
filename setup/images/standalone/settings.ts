/** How the container starts, and what it listens on. */

/**
 * The volume. The data directory is a folder in it, so that a restore can put one in its place; the cache is another, since
 * sandboxes' images are links to it.
 */
const VOLUME = '/var/lib/sandhaven';

export const settings = {
  WorkingDir: '/',
  Env: [
    'PATH=/usr/sbin:/usr/bin:/sbin:/bin',
    'HOME=/root',
    // Debian's own characters, for what `docker exec` prints.
    'LC_ALL=C.UTF-8',
    // A published port arrives at the container's address, not at its loopback.
    'SANDHAVEN_LISTEN=0.0.0.0:7420',
    'SANDHAVEN_PREVIEW_LISTEN=0.0.0.0:7421',
    'SANDHAVEN_SSH_LISTEN=0.0.0.0:7422',
    `SANDHAVEN_DATA_DIR=${VOLUME}/data`,
    `SANDHAVEN_CACHE_DIR=${VOLUME}/cache`,
  ],
  Entrypoint: ['/usr/bin/tini', '--', '/usr/lib/sandhaven/start'],
  Cmd: ['up', '--prove'],
  ExposedPorts: { '7420/tcp': {}, '7421/tcp': {}, '7422/tcp': {} },
  Volumes: { [VOLUME]: {} },
  StopSignal: 'SIGTERM',
};
