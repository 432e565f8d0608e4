/** Wires what several replicas of one installation do for each other; nothing where there is one process only. */
import type { Unfinished } from '../../concurrency/unfinished.ts';
import type { Turn } from '../../control/base/tallies.ts';
import type { SnapshotWork } from '../../control/images/snapshot-work.ts';
import type { Machines } from '../../control/lifecycle/machines.ts';
import type { Watches } from '../../control/lifecycle/watches.ts';
import type { WarmPool } from '../../control/pool/pool.ts';
import type { Comparable, Log, Replicas, Runtime, SandboxStore } from '../../control/ports/index.ts';
import { Comparison } from '../../control/replicas/comparison.ts';
import { type OpenWork, RightsCheck } from '../../control/replicas/rights-check.ts';
import { TakeOver } from '../../control/replicas/take-over.ts';
import type { OtherReplicas } from '../../control/turns/other-replicas.ts';

export interface ReplicaDependencies {
  store: SandboxStore;
  runtime: Runtime;
  machines: Machines;
  watches: Watches;
  pool: WarmPool;
  snapshots: SnapshotWork;
  replicas: Replicas;
  others: OtherReplicas;
  unfinished: Unfinished;
  /** Open connections, whose right may end at another replica. */
  open: readonly OpenWork[];
  log: Log;
}

export interface ReplicaWork {
  /** The last look of the comparison; null before its first. */
  readonly compared: Turn | null;
  begin(keepsInPool: (sandbox: Comparable) => boolean): void;
  close(): Promise<void>;
}

export function wireReplicas(d: ReplicaDependencies): ReplicaWork {
  const { store, runtime, machines, watches, pool, snapshots, replicas, others, unfinished, open, log } = d;
  const takeOver = new TakeOver({ store, replicas, others, finish: (id) => machines.finish(id), log });
  const rights = new RightsCheck({ open, replicas, log });
  let comparison: Comparison | null = null;
  replicas.onTold('yield', (id) => machines.giveWay(id));
  return {
    get compared() {
      return comparison?.lastTurn ?? null;
    },
    begin(keepsInPool) {
      const onLook = async () => {
        await snapshots.resume();
        pool.refill();
      };
      comparison = new Comparison({
        ...{ store, runtime, machines, watches, replicas, unfinished, log },
        ...{ keepsInPool, onLook },
      });
      takeOver.begin();
      comparison.begin();
      rights.begin();
    },
    async close() {
      await Promise.all([rights.close(), takeOver.close(), comparison?.close()]);
    },
  };
}
