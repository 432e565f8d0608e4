/** Chooses the program that starts the machines of this host, and finds runc. */
import { existsSync, readdirSync } from 'node:fs';
import { join } from 'node:path';
import { SandhavenError } from '../../model/errors.ts';
import type { Hierarchy } from '../../runtime/oci/host/hierarchies.ts';
import { refusalOfDirect } from '../../runtime/oci/machine/machine-runtime.ts';
import { PACKAGED_RUNC } from './installed.ts';

export type RuntimeChoice = 'auto' | 'runc' | 'direct';

/** The runtime in use, with the reason in words. */
export interface ChosenRuntime {
  kind: 'runc' | 'direct';
  why: string;
}

const MACHINE_RUNC = '/usr/sbin/runc';

/** Rejects `direct` with `failed_precondition` where this host does not allow it. */
export function chooseRuntime(choice: RuntimeChoice, hierarchies: Hierarchy[]): ChosenRuntime {
  const refusal = refusalOfDirect(hierarchies);
  if (choice === 'auto') {
    return refusal === null
      ? { kind: 'direct', why: 'the quickest here' }
      : { kind: 'runc', why: `no direct start: ${refusal}` };
  }
  if (choice === 'direct' && refusal !== null) {
    throw new SandhavenError('failed_precondition', `Machines cannot be started directly: ${refusal}.`, {
      hint: 'Use --machine-runtime runc, or auto.',
    });
  }
  return { kind: choice, why: 'chosen by --machine-runtime' };
}

/** Returns the package's runc, else the newest that set-up installed for the service, else the machine's own. */
export function findRunc(cacheDir: string): string {
  if (existsSync(PACKAGED_RUNC)) return PACKAGED_RUNC;
  const folder = join(cacheDir, 'runc');
  if (!existsSync(folder)) return MACHINE_RUNC;
  const versions = readdirSync(folder).sort((a, b) => b.localeCompare(a, 'en', { numeric: true }));
  const paths = versions.map((version) => join(folder, version, 'runc'));
  return paths.find((path) => existsSync(path)) ?? MACHINE_RUNC;
}
