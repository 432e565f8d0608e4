/** What crash.test.ts tells victim.ts to do. */
import type { MachineSpec } from '../../src/control/ports/index.ts';
import type { ArchiveRecord } from '../../src/model/sandbox.ts';
import type { Instance } from './host.ts';

export const actions = ['start', 'stop', 'archive', 'restore', 'grow', 'destroy'] as const;
export type Action = (typeof actions)[number];

export interface Orders {
  instance: Omit<Instance, 'installationKey'> & { installationKeyHex: string };
  action: Action;
  machine: MachineSpec;
  generation: number;
  record: ArchiveRecord | null;
}
