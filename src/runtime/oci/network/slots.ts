/**
 * Slots of one instance.
 *
 * Life of a slot: its number is locked; its namespaces and links are made; it waits in the pool; a sandbox holds
 * it; its parts in the kernel are removed; no process with its ids is left; its lock is freed. Nothing is reused
 * in place. After a crash only slots that sandboxes hold are kept; all others are removed and made anew.
 */
import type { Log } from '../../../control/ports/index.ts';
import { SandhavenError } from '../../../model/errors.ts';
import { sandboxIdPattern } from '../../../model/ids.ts';
import type { NetworkReport } from '../../../model/network/traffic.ts';
import { usualTraffic } from '../../../model/network/traffic.ts';
import { delegatedSlots, slotsWithProcesses, slotsWithStrangers } from '../host/host-ids.ts';
import { declareAlive, declareEnding } from '../host/liveness.ts';
import {
  allLocks,
  createHolders,
  currentBootId,
  freeCount,
  freeLocks,
  locksOf,
  takeLocks,
} from '../host/locks.ts';
import { indexOfAddress, type NetworkMode, type Slot, slotOf } from '../host/plan.ts';
import { type HostNetwork, startHostNetwork } from './host-network.ts';
import { isPinned, makeSlots, ownSlotsFolder, removeSlotsFolder, slotRemains } from './namespaces.ts';
import { createPool } from './pool.ts';
import { reclaimDeadInstances, removeInstance } from './reclaim.ts';
import { createRetirement } from './retirement.ts';
import type { Slots } from './slots-port.ts';
import type { EachMachine } from './traffic/table.ts';
import { createTraffic } from './traffic.ts';

export interface SlotsOptions {
  instanceId: string;
  /** Folder of the instance under /run, and its data directory: without either, other instances take its slots. */
  runDir: string;
  dataDir: string;
  launcherPath: string;
  /** Program that judges connections and queries by name; started for the first machine with rules. */
  egressPath: string;
  log: Log;
  /** Number of slots kept ready. */
  poolSize: number;
  /** Network of machines; with `none` they have nothing but loopback. */
  network: NetworkMode;
  /** File that names the resolvers for forwarded queries. */
  resolvConfPath?: string;
  /** Returns the owner of a sandbox; by default each sandbox is its own. */
  ownerOf?: (sandboxId: string) => string;
  /** Receives what machines with rules were allowed and refused. */
  onNetworkEvents?: (events: NetworkReport[]) => void;
  /** Limits of the traffic of each machine; without them, the number of new connections alone. */
  traffic?: EachMachine;
}

/** Creations one after another share a look: it reads the numbers of all threads of the kernel, two for each machine. */
const lookAgeMs = 2_000;

export function createSlots(options: SlotsOptions): Slots {
  const { launcherPath, egressPath, log, ownerOf = (sandboxId) => sandboxId } = options;
  const instance = { id: options.instanceId, runDir: options.runDir, dataDir: options.dataDir };
  const holders = createHolders(instance);
  const retirement = createRetirement(instance, launcherPath, log);
  const pool = createPool(options.poolSize, make, log);
  const held = new Map<string, number>();
  /** Inverse of `held`. */
  const holder = new Map<number, string>();
  const binding = new Map<string, Promise<Slot>>();
  /** Slots of the last failed batch; others are tried first, so that one bad number blocks nobody. */
  let failed: number[] = [];
  /** Slots in use at the start without a lock: machines whose locks were removed may run there. */
  let unlocked: number[] = [];
  /** Last look for strangers, and when it was made. */
  let look = { at: Number.NEGATIVE_INFINITY, strangers: new Set<number>() };
  const traffic = createTraffic({
    ...{ instance, held, ownerOf, log },
    each: options.traffic ?? usualTraffic.each,
  });
  let network: HostNetwork | null = null;
  let gateway: string | null = null;
  let alive: Disposable | null = null;

  function claim(): void {
    alive ??= declareAlive(instance);
  }

  async function make(count: number): Promise<number[]> {
    const unusable = new Set([...(await inOtherHands()), ...delegatedSlots(), ...failed]);
    const indexes = takeLocks(instance, count, 'machine', unusable);
    try {
      if (indexes.length > 0) await makeSlots(instance, indexes, gateway, launcherPath);
      return indexes;
    } catch (error) {
      failed = indexes;
      await retirement.add(indexes, 'gone');
      throw error;
    }
  }

  function hold(sandboxId: string, index: number): void {
    held.set(sandboxId, index);
    holder.set(index, sandboxId);
  }

  async function inOtherHands(): Promise<Set<number>> {
    if (unlocked.length === 0) return strangersLately();
    const busy = await slotsWithProcesses();
    unlocked = unlocked.filter((index) => busy.has(index));
    return busy;
  }

  /** A stranger may come at any time after a look, too: its age matters little. */
  async function strangersLately(): Promise<Set<number>> {
    const at = performance.now();
    if (at - look.at > lookAgeMs) look = { at, strangers: await slotsWithStrangers() };
    return look.strangers;
  }

  /** Keeps the slots that running machines need, and retires the rest of an earlier boot. */
  async function recover(): Promise<void> {
    const bootId = currentBootId();
    freeLocks(locksOf(instance.id).filter((lock) => lock.bootId !== bootId));
    const locks = locksOf(instance.id);
    const machines = locks.filter(({ purpose }) => purpose === 'machine').map(({ index }) => index);
    const busy = await slotsWithProcesses();
    const locked = new Set(allLocks().map(({ index }) => index));
    unlocked = [...busy].filter((index) => !locked.has(index));
    for (const [sandboxId, index] of holders.read()) {
      if (machines.includes(index) && (isPinned(instance, index) || busy.has(index))) hold(sandboxId, index);
      else holders.remove(sandboxId);
    }
    const kept = new Set(held.values());
    const found = new Set([...machines, ...slotRemains(instance)]);
    await retirement.add(
      [...found].filter((index) => !kept.has(index)),
      'unknown',
    );
  }

  async function startNetwork(fence: string[]): Promise<void> {
    const own = locksOf(instance.id).find(({ purpose }) => purpose === 'gateway');
    const gatewayIndex = own?.index ?? takeLocks(instance, 1, 'gateway')[0];
    if (gatewayIndex === undefined)
      throw new SandhavenError('resource_exhausted', 'No slot is left on this host.');
    network = await startHostNetwork({
      ...{ instance, gatewayIndex, launcherPath, egressPath, fence, held, ownerOf, log },
      resolvConfPath: options.resolvConfPath ?? '/etc/resolv.conf',
      holderOf: (address) => holder.get(indexOfAddress(address)) ?? address,
      onNetworkEvents: options.onNetworkEvents ?? (() => {}),
    });
    gateway = network.gateway;
    await traffic.begin();
  }

  async function bind(sandboxId: string): Promise<Slot> {
    const index = await pool.take();
    try {
      holders.add(sandboxId, index);
    } catch (error) {
      void retirement.add([index], 'gone');
      throw error;
    }
    hold(sandboxId, index);
    traffic.assigned(sandboxId);
    network?.policies.enter(sandboxId);
    return slotOf(instance, index, gateway);
  }

  async function endWork(): Promise<void> {
    const unused = await pool.close();
    await traffic.close();
    await network?.close();
    network = null;
    await retirement.add(unused, 'gone');
    await retirement.close();
  }

  function unclaim(): void {
    alive?.[Symbol.dispose]();
    alive = null;
  }

  return {
    traffic,
    claim,

    async init(fence = []) {
      claim();
      await reclaimDeadInstances(instance, launcherPath, log).catch((error) =>
        log.warn('slots of dead instances could not be freed', { reason: String(error.cause ?? error) }),
      );
      await ownSlotsFolder(instance, launcherPath);
      await recover();
      if (options.network === 'nat') await startNetwork(fence);
      await pool.fill();
    },

    async acquire(sandboxId) {
      if (!sandboxIdPattern.test(sandboxId)) throw new Error(`not a sandbox id: ${sandboxId}`);
      const index = held.get(sandboxId);
      if (index !== undefined) return slotOf(instance, index, gateway);
      const pending = binding.get(sandboxId);
      if (pending) return pending;
      const bound = bind(sandboxId).finally(() => binding.delete(sandboxId));
      binding.set(sandboxId, bound);
      return bound;
    },

    async get(sandboxId) {
      const index = held.get(sandboxId);
      return index === undefined ? null : slotOf(instance, index, gateway);
    },

    async release(sandboxId) {
      await binding.get(sandboxId)?.catch(() => {});
      const index = held.get(sandboxId);
      if (index === undefined) return network?.policies.leave(sandboxId);
      holders.remove(sandboxId);
      held.delete(sandboxId);
      holder.delete(index);
      traffic.released(sandboxId, index);
      const left = network?.policies.leave(sandboxId, index);
      // A slot that is not shut keeps its lock, and so its number; the next start of the service retires it.
      void Promise.resolve(left)
        .then(() => retirement.add([index], 'gone'))
        .catch(() => {});
    },

    setNetwork: async (sandboxId, policy, secrets) => network?.policies.set(sandboxId, policy, secrets),
    networkSet: async (sandboxId) => network?.policies.entered(sandboxId),

    held: async () => [...held.keys()],
    free: () => pool.ready().length + freeCount(),
    async close({ keepsClaim = false } = {}) {
      await endWork();
      if (!keepsClaim) unclaim();
    },

    async purge() {
      await endWork();
      alive ??= declareEnding(instance);
      // Includes the remains of a killed service; `init` need not have run.
      const locks = locksOf(instance.id);
      const machines = locks.filter(({ purpose }) => purpose === 'machine').map(({ index }) => index);
      const last = createRetirement(instance, launcherPath, log);
      await last.add([...new Set([...machines, ...slotRemains(instance)])], 'unknown');
      await last.drain().finally(() => last.close());
      await removeInstance(instance, locksOf(instance.id), launcherPath);
      await removeSlotsFolder(instance, launcherPath);
      unclaim();
      held.clear();
      holder.clear();
    },
  };
}
