/** Names the packages that a test installs in the base image, and the file of the cache that has them. */
import { join } from 'node:path';
import { defaultCacheDir } from '../../src/runtime/images/cache-dir.ts';

/** In the order of their installation. The first makes a user by systemd-sysusers, as many a server does. */
export const DOZEN = [
  'uuid-runtime',
  'tree',
  'default-jre-headless',
  'cron',
  'openssh-server',
  'postgresql',
  'redis-server',
  'nginx',
  'memcached',
  'php-cli',
  'dbus',
  'tmux',
];

export const dozenStore = join(defaultCacheDir(), 'dozen');

/** A tar, since that is how it gets into a sandbox. What it has depends on the base image, whose digest this is. */
export const dozenArchive = (digest: string) => join(dozenStore, `${digest}.tar`);
