/**
 * Notes of the policies of slots, for the next start of the service: machines keep theirs meanwhile. Each lies in the
 * folder of its slot and goes with it, so the next holder of the number finds none. Of secrets they have the ports alone.
 */
import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { NetworkPolicy } from '../../../../model/network/policy.ts';
import { isMissing } from '../../host/files.ts';
import { type Instance, slotDir } from '../../host/plan.ts';

export interface PolicyNote {
  policy: NetworkPolicy;
  /** Ports of hosts that take secrets of the machine. */
  ledPorts: number[];
}

export interface PolicyNotes {
  /** Writes nothing where the slot's folder is gone. */
  write(index: number, note: PolicyNote): void;
  /**
   * Returns null for a note that was cut off, and without the slot's folder: the machine then reaches nothing until told
   * anew. Without a note in it, the machine is of a version before there were policies, and open as all were.
   */
  read(index: number): PolicyNote | null;
}

export function createPolicyNotes(instance: Instance): PolicyNotes {
  const path = (index: number) => join(slotDir(instance, index), 'policy');
  return {
    write(index, { policy, ledPorts }) {
      try {
        writeFileSync(path(index), JSON.stringify({ ...policy, ledPorts }), { mode: 0o600 });
      } catch (error) {
        if (!isMissing(error)) throw error;
      }
    },
    read(index) {
      try {
        const { ledPorts = [], ...policy } = JSON.parse(readFileSync(path(index), 'utf8'));
        return { policy, ledPorts };
      } catch (error) {
        const isOlder = isMissing(error) && existsSync(slotDir(instance, index));
        return isOlder ? { policy: { mode: 'open' }, ledPorts: [] } : null;
      }
    },
  };
}
