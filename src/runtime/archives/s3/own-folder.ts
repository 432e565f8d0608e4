/** Names of a service's own part of a bucket, where nobody else writes and it alone collects. */
import { createHash } from 'node:crypto';
import { readFileSync } from 'node:fs';

const MACHINE_ID = '/etc/machine-id';

/**
 * Returns the instance's id with a mark of this machine: a copy of the data directory, started elsewhere, has the same
 * id, and must not collect what the first one writes.
 */
export function folderOnMachine(instance: string, machineIdFile = MACHINE_ID): string {
  return marked(instance, machineId(machineIdFile));
}

/**
 * Returns the instance's id with a mark of the cluster and the namespace, which all replicas have in common: a copy of the
 * installation in another cluster must not collect what the first one writes.
 * @param authority The certificate that the API server is trusted by, or another text that no two clusters share.
 */
export function folderInCluster(instance: string, authority: string, namespace: string): string {
  return marked(instance, `${namespace}\n${authority.trim()}`);
}

function marked(instance: string, text: string): string {
  const mark = createHash('sha256').update(`sandhaven archives\n${text}`).digest('hex');
  return `${instance}-${mark.slice(0, 8)}`;
}

function machineId(file: string): string {
  try {
    return readFileSync(file, 'utf8').trim();
  } catch {
    return '';
  }
}
