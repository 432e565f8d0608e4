/** Names the Prometheus that tests run, and the folder of the cache that holds it. */
import { arch } from 'node:os';
import { join } from 'node:path';
import { defaultCacheDir } from '../../src/runtime/images/cache-dir.ts';

/** Debian 12's runs on Debian 13 too. Raise the number to fetch a newer version. */
export const PROMETHEUS = { revision: 1, suite: 'bookworm', packages: ['prometheus'] };

export const prometheusStore = join(defaultCacheDir(), 'prometheus');

/** A root as the package unpacks. */
export const prometheusFolder = join(prometheusStore, `debian-${PROMETHEUS.revision}-${arch()}`);

export const prometheusProgram = join(prometheusFolder, 'usr/bin/prometheus');
export const promtoolProgram = join(prometheusFolder, 'usr/bin/promtool');
