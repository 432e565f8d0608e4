/**
 * Marks the row of each operation with the replica that carries it out. Work that has outlived its lease writes none: its
 * replica may have another id by now, under which the fence of the database would let it pass.
 */

import { boundRows } from '../base/bound-rows.ts';
import { assertTenure } from '../base/tenure.ts';
import type { Replicas, SandboxPatch, SandboxStore } from '../ports/index.ts';

export function heldRows(store: SandboxStore, replicas: Replicas): SandboxStore {
  if (!replicas.shared) return store;
  const holderOf = (operation: SandboxPatch['operation']) => (operation === null ? null : replicas.id);
  const inTime = async <T>(write: () => Promise<T>): Promise<T> => {
    assertTenure(replicas);
    return write();
  };
  const held = (patch: SandboxPatch): SandboxPatch =>
    patch.operation === undefined ? patch : { ...patch, holder: holderOf(patch.operation) };
  return {
    ...boundRows(store),
    insert: (sandbox, allowance) =>
      inTime(() => store.insert({ ...sandbox, holder: holderOf(sandbox.operation) }, allowance)),
    update: (id, generation, patch, ...conditions) =>
      inTime(() => store.update(id, generation, held(patch), ...conditions)),
    claim: (match, patch, allowance) => inTime(() => store.claim(match, held(patch), allowance)),
    remove: (id, generation) => inTime(() => store.remove(id, generation)),
  };
}
