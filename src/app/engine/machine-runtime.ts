/** Chooses the program that starts the machines of this host, and finds runc. */
import { existsSync, readdirSync } from 'node:fs';
import { join } from 'node:path';
import { SandhavenError } from '../../model/errors.ts';
import type { Hierarchy } from '../../runtime/oci/host/hierarchies.ts';
import { refusalOfDirect } from '../../runtime/oci/machine/machine-runtime.ts';
import { refusalOfProgram } from '../../runtime/start-program.ts';
import { NATIVE, PACKAGED_RUNC } from './installed.ts';

export type RuntimeChoice = 'auto' | 'runc' | 'direct';

/** The runtime in use, with the reason in words. */
export interface ChosenRuntime {
  kind: 'runc' | 'direct';
  why: string;
}

const MACHINE_RUNC = '/usr/sbin/runc';
const CHOSEN = 'chosen by --machine-runtime';

/** Rejects `direct` with `failed_precondition` where this host does not allow it. */
export async function chooseRuntime(
  choice: RuntimeChoice,
  hierarchies: Hierarchy[],
  tryRules = tryDeviceRules,
): Promise<ChosenRuntime> {
  if (choice === 'runc') return { kind: choice, why: CHOSEN };
  const refusal = await refusalOfDirect(hierarchies, tryRules);
  if (choice === 'auto') {
    return refusal === null
      ? { kind: 'direct', why: 'the quickest here' }
      : { kind: 'runc', why: `no direct start: ${refusal}` };
  }
  if (refusal !== null) {
    throw new SandhavenError('failed_precondition', `Machines cannot be started directly: ${refusal}.`, {
      hint: 'Use --machine-runtime runc, or auto.',
    });
  }
  return { kind: choice, why: CHOSEN };
}

/** Resolves to the reason for which the launcher cannot have the kernel limit devices on cgroup v2; null for none. */
export function tryDeviceRules(): Promise<string | null> {
  return refusalOfProgram(join(NATIVE, 'sandhaven-launcher'), ['try-device-rules']);
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
