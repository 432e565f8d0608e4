/**
 * Places of the programs that the service brings along. In a checkout they are where `make` puts them; an installed
 * package has them beside the sources.
 */
import { existsSync } from 'node:fs';
import { machine } from 'node:os';
import { join } from 'node:path';
import { home } from '../../home.ts';

const ofPackage = join(home, 'native/programs');

/** Folder of the native programs. */
export const NATIVE = existsSync(ofPackage)
  ? ofPackage
  : join(home, `native/target/${machine()}-unknown-linux-gnu/release`);

/** Exists in a package alone. */
export const PACKAGED_RUNC = join(home, 'runc/runc');
