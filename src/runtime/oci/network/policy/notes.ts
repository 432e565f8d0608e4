/**
 * Notes of the policies of slots, for the next start of the service: machines keep theirs meanwhile. Each lies in the
 * folder of its slot and goes with it, so the next holder of the number finds none.
 */
import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { NetworkPolicy } from '../../../../model/network/policy.ts';
import { isMissing } from '../../host/files.ts';
import { type Instance, slotDir } from '../../host/plan.ts';

export interface PolicyNotes {
  /** Writes nothing where the slot's folder is gone. */
  write(index: number, policy: NetworkPolicy): void;
  /**
   * Returns null for a note that was cut off, and without the slot's folder: the machine then reaches nothing until told
   * anew. Without a note in it, the machine is of a version before there were policies, and open as all were.
   */
  read(index: number): NetworkPolicy | null;
}

export function createPolicyNotes(instance: Instance): PolicyNotes {
  const path = (index: number) => join(slotDir(instance, index), 'policy');
  return {
    write(index, policy) {
      try {
        writeFileSync(path(index), JSON.stringify(policy), { mode: 0o600 });
      } catch (error) {
        if (!isMissing(error)) throw error;
      }
    },
    read(index) {
      try {
        return JSON.parse(readFileSync(path(index), 'utf8'));
      } catch (error) {
        return isMissing(error) && existsSync(slotDir(instance, index)) ? { mode: 'open' } : null;
      }
    },
  };
}
