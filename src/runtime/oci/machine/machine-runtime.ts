/**
 * Programs that make a machine of the launcher's mounts: runc, with its known escapes, or the launcher itself, where the host
 * lets it.
 */
import { controllerHierarchy, type Hierarchy, memoryHierarchy } from '../host/hierarchies.ts';

export type MachineRuntime = { kind: 'runc'; runcPath: string } | { kind: 'direct' };

export interface RuncVersion {
  /** Version as printed by runc. */
  text: string;
  major: number;
  minor: number;
  patch: number;
  /** Number of the release candidate; null for a release. */
  candidate: number | null;
}

/**
 * Names the reason for which the launcher cannot start machines on this host by itself; null for none.
 * @param tryDeviceRules Asks the kernel for rules about devices on cgroup v2, and resolves to its error, or to null.
 */
export async function refusalOfDirect(
  hierarchies: Hierarchy[],
  tryDeviceRules: () => Promise<string | null>,
): Promise<string | null> {
  const memory = memoryHierarchy(hierarchies);
  if (memory === null) return 'no cgroup limits memory here';
  // Nothing else keeps the devices of an operator's GPUs apart.
  if (memory.version === 1) {
    return controllerHierarchy(hierarchies, 'devices') === null ? 'no cgroup limits devices here' : null;
  }
  const error = await tryDeviceRules();
  return error === null ? null : `the kernel takes no rules about devices for cgroup v2 (${error})`;
}

/** @param output Output of `runc --version`. Returns null for any other output. */
export function parseRuncVersion(output: string): RuncVersion | null {
  const match = /^runc version (v?(\d{1,4})\.(\d{1,4})\.(\d{1,4})(?:-rc\.?(\d{1,4}))?\S*)/m.exec(output);
  if (!match) return null;
  const [, text = '', major, minor, patch, candidate] = match;
  return {
    text,
    major: Number(major),
    minor: Number(minor),
    patch: Number(patch),
    candidate: candidate === undefined ? null : Number(candidate),
  };
}

/**
 * Returns true for known escapes: CVE-2025-31133, -52565 and -52881 (masked paths and /dev/console redirected by races during
 * start) are fixed in 1.2.8, 1.3.3 and 1.4.0-rc.3.
 *
 * A distribution may patch an older version without renaming it; the version does not show that, so it counts as vulnerable.
 */
export function isVulnerable(version: RuncVersion): boolean {
  const { major, minor, patch, candidate } = version;
  if (major !== 1) return major < 1;
  if (minor < 2) return true;
  if (minor === 2) return patch < 8 || (patch === 8 && candidate !== null);
  if (minor === 3) return patch < 3 || (patch === 3 && candidate !== null);
  if (minor === 4) return patch === 0 && candidate !== null && candidate < 3;
  return false;
}
