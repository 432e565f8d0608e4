/**
 * Marks the row of each operation with the replica that carries it out. Work that has outlived its lease writes none: its
 * replica may have another id by now, under which the fence of the database would let it pass.
 */
import type { Replicas, SandboxPatch, SandboxStore } from '../ports/index.ts';
import { assertTenure } from './tenure.ts';

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
    ...bound(store),
    insert: (sandbox, allowance) =>
      inTime(() => store.insert({ ...sandbox, holder: holderOf(sandbox.operation) }, allowance)),
    update: (id, generation, patch, ...conditions) =>
      inTime(() => store.update(id, generation, held(patch), ...conditions)),
    claim: (match, patch, allowance) => inTime(() => store.claim(match, held(patch), allowance)),
    remove: (id, generation) => inTime(() => store.remove(id, generation)),
  };
}

/** The methods of a store, which may be an instance of a class. */
function bound(store: SandboxStore): SandboxStore {
  return {
    insert: store.insert.bind(store),
    get: store.get.bind(store),
    reread: store.reread.bind(store),
    find: store.find.bind(store),
    list: store.list.bind(store),
    names: store.names.bind(store),
    createdUnder: store.createdUnder.bind(store),
    all: store.all.bind(store),
    comparable: store.comparable.bind(store),
    inProgress: store.inProgress.bind(store),
    schedulable: store.schedulable.bind(store),
    archives: store.archives.bind(store),
    pool: store.pool.bind(store),
    claim: store.claim.bind(store),
    update: store.update.bind(store),
    remove: store.remove.bind(store),
    usage: store.usage.bind(store),
    promisedDiskGb: store.promisedDiskGb.bind(store),
    touch: store.touch.bind(store),
  };
}
