/** Name of this service's own part of a bucket. */
import { createHash } from 'node:crypto';
import { readFileSync } from 'node:fs';

const MACHINE_ID = '/etc/machine-id';

/**
 * Returns the instance's id with a mark of this machine: a copy of the data directory, started elsewhere, has the same
 * id, and must not collect what the first one writes.
 */
export function ownFolder(instance: string, machineIdFile = MACHINE_ID): string {
  const mark = createHash('sha256')
    .update(`sandhaven archives\n${machineId(machineIdFile)}`)
    .digest('hex');
  return `${instance}-${mark.slice(0, 8)}`;
}

function machineId(file: string): string {
  try {
    return readFileSync(file, 'utf8').trim();
  } catch {
    return '';
  }
}
