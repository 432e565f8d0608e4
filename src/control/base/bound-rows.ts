/** Methods of a store of sandboxes as an object of their own, since the store may be an instance of a class. */
import type { SandboxStore } from '../ports/index.ts';

export function boundRows(store: SandboxStore): SandboxStore {
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
