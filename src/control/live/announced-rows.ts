/**
 * Announces each write of a sandbox's row by this process, after its commit. Replicas need none of it: the database tells
 * all of them.
 */

import { boundRows } from '../base/bound-rows.ts';
import type { SandboxStore } from '../ports/index.ts';

/** @param wrote Receives the sandbox's id. */
export function announcedRows(store: SandboxStore, wrote: (sandboxId: string) => void): SandboxStore {
  return {
    ...boundRows(store),
    async insert(sandbox, allowance) {
      await store.insert(sandbox, allowance);
      wrote(sandbox.id);
    },
    async claim(match, patch, allowance) {
      const claimed = await store.claim(match, patch, allowance);
      if (claimed) wrote(claimed.id);
      return claimed;
    },
    async update(id, ...change) {
      const updated = await store.update(id, ...change);
      if (updated) wrote(id);
      return updated;
    },
    async remove(id, generation) {
      const isRemoved = await store.remove(id, generation);
      if (isRemoved) wrote(id);
      return isRemoved;
    },
    async touch(activity) {
      await store.touch(activity);
      for (const id of activity.keys()) wrote(id);
    },
  };
}
