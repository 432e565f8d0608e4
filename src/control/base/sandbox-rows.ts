/**
 * Stores of sandboxes that do more at each write: name the replica that carries an operation out, and announce the
 * change.
 */
import type { Replicas, SandboxPatch, SandboxStore } from '../ports/index.ts';
import { assertTenure } from './tenure.ts';

function boundRows(store: SandboxStore): SandboxStore {
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

/**
 * Announces each write of a sandbox's row by this process, after its commit. Replicas need none of it: the database tells
 * all of them.
 * @param wrote Receives the sandbox's id.
 */
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

/**
 * Marks the row of each operation with the replica that carries it out. Work that has outlived its lease writes none:
 * its replica may have another id by now, under which the fence of the database would let it pass.
 */
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
