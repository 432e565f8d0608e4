/**
 * Notes of the policies of slots, for the next start of the service: machines keep theirs meanwhile. Each lies in the
 * folder of its slot and goes with it, so the next holder of the number finds none.
 */
import { readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { NetworkPolicy } from '../../../../model/network/policy.ts';
import { type Instance, slotDir } from '../../host/plan.ts';

export interface PolicyNotes {
  write(index: number, policy: NetworkPolicy): void;
  /** Returns null without a note, and for one that was cut off: the machine then reaches nothing until told anew. */
  read(index: number): NetworkPolicy | null;
  remove(index: number): void;
}

export function createPolicyNotes(instance: Instance): PolicyNotes {
  const path = (index: number) => join(slotDir(instance, index), 'policy');
  return {
    write: (index, policy) => writeFileSync(path(index), JSON.stringify(policy), { mode: 0o600 }),
    read(index) {
      try {
        return JSON.parse(readFileSync(path(index), 'utf8'));
      } catch {
        return null;
      }
    },
    remove: (index) => rmSync(path(index), { force: true }),
  };
}
