/**
 * Slots of one instance.
 *
 * Life of a slot: its number is locked; its namespaces and links are made; it waits in the pool; a sandbox holds
 * it; its parts in the kernel are removed; no process with its ids is left; its lock is freed. Nothing is reused
 * in place. After a crash only slots that sandboxes hold are kept; all others are removed and made anew.
 */
import { rmSync } from 'node:fs';
import type { Log } from '../../../control/ports/index.ts';
import { SandhavenError } from '../../../model/errors.ts';
import { sandboxIdPattern } from '../../../model/ids.ts';
import { createHolders } from '../host/held.ts';
import { delegatedSlots, slotsWithProcesses, slotsWithStrangers } from '../host/host-ids.ts';
import { declareAlive } from '../host/liveness.ts';
import { allLocks, currentBootId, freeCount, freeLocks, locksOf, takeLocks } from '../host/locks.ts';
import { addressOf, indexOfAddress, type NetworkMode, slotOf, slotsDir } from '../host/plan.ts';
import { reclaimDeadInstances, removeInstance } from '../host/reclaim.ts';
import { createRetirement } from '../host/retirement.ts';
import type { Slot, Slots } from '../machine/slot.ts';
import { type DnsForwarder, startDnsForwarder } from './dns/forwarder.ts';
import { createFirewall, type Firewall } from './firewall.ts';
import { addGatewayAddress, isPinned, makeSlots, slotRemains } from './namespaces.ts';
import { createPool } from './pool.ts';

export interface SlotsOptions {
  instanceId: string;
  /** Folder of the instance under /run, and its data directory: without either, other instances take its slots. */
  runDir: string;
  dataDir: string;
  launcherPath: string;
  log: Log;
  /** Number of slots kept ready. */
  poolSize: number;
  /** Network of machines; with `none` they have nothing but loopback. */
  network: NetworkMode;
  /** File that names the resolvers for forwarded queries. */
  resolvConfPath?: string;
  /** Returns the owner of a sandbox; by default each sandbox is its own. */
  ownerOf?: (sandboxId: string) => string;
}

/** Time that `purge` waits for the last processes with slots' ids to end. */
const purgeTimeoutMs = 10_000;

export function createSlots(options: SlotsOptions): Slots {
  const { launcherPath, log, ownerOf = (sandboxId) => sandboxId } = options;
  const instance = { id: options.instanceId, runDir: options.runDir, dataDir: options.dataDir };
  const holders = createHolders(instance);
  const retirement = createRetirement(instance, log);
  const pool = createPool(options.poolSize, make, log);
  const held = new Map<string, number>();
  /** Inverse of `held`. */
  const holder = new Map<number, string>();
  const binding = new Map<string, Promise<Slot>>();
  /** Slots ready or held; the DNS forwarder answers these alone. */
  const live = new Set<number>();
  /** Slots of the last failed batch; others are tried first, so that one bad number blocks nobody. */
  let failed: number[] = [];
  /** Slots in use at the start without a lock: machines whose locks were removed may run there. */
  let unlocked: number[] = [];
  let gateway: string | null = null;
  let firewall: Firewall | null = null;
  let dns: DnsForwarder | null = null;
  let alive: Disposable | null = null;

  function claim(): void {
    alive ??= declareAlive(instance);
  }

  async function make(count: number): Promise<number[]> {
    const unusable = new Set([...(await inOtherHands()), ...delegatedSlots(), ...failed]);
    const indexes = takeLocks(instance, count, 'machine', unusable);
    try {
      if (indexes.length > 0) await makeSlots(instance, indexes, gateway, launcherPath);
      for (const index of indexes) live.add(index);
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
    if (unlocked.length === 0) return slotsWithStrangers();
    const busy = await slotsWithProcesses();
    unlocked = unlocked.filter((index) => busy.has(index));
    return busy;
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
    for (const index of kept) live.add(index);
    const found = new Set([...machines, ...slotRemains(instance)]);
    await retirement.add(
      [...found].filter((index) => !kept.has(index)),
      'unknown',
    );
  }

  /** Applies the rules before the first link exists; running machines are never without them. */
  async function startNetwork(): Promise<void> {
    const own = locksOf(instance.id).find(({ purpose }) => purpose === 'gateway');
    const index = own?.index ?? takeLocks(instance, 1, 'gateway')[0];
    if (index === undefined) throw new SandhavenError('resource_exhausted', 'No slot is left on this host.');
    gateway = addressOf(index);
    firewall = createFirewall(instance.id, gateway, log);
    await firewall.start();
    await addGatewayAddress(gateway);
    dns = await startDnsForwarder({
      gateway,
      isMachine: (address) => live.has(indexOfAddress(address)),
      ownerOf: (address) => ownerOf(holder.get(indexOfAddress(address)) ?? address),
      resolvConfPath: options.resolvConfPath ?? '/etc/resolv.conf',
    });
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
    return slotOf(instance, index, gateway);
  }

  async function close(): Promise<void> {
    const unused = await pool.close();
    await firewall?.close();
    await dns?.close();
    dns = null;
    await retirement.add(unused, 'gone');
    await retirement.close();
    alive?.[Symbol.dispose]();
    alive = null;
  }

  return {
    claim,

    async init() {
      claim();
      await reclaimDeadInstances(instance, log).catch((error) =>
        log.warn('slots of dead instances could not be freed', { reason: String(error.cause ?? error) }),
      );
      await recover();
      if (options.network === 'nat') await startNetwork();
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
      if (index === undefined) return;
      holders.remove(sandboxId);
      held.delete(sandboxId);
      holder.delete(index);
      live.delete(index);
      void retirement.add([index], 'gone');
    },

    held: async () => [...held.keys()],
    free: () => pool.ready().length + freeCount(),
    close,

    async purge() {
      await close();
      // Includes the remains of a killed service; `init` need not have run.
      const locks = locksOf(instance.id);
      const machines = locks.filter(({ purpose }) => purpose === 'machine').map(({ index }) => index);
      const last = createRetirement(instance, log);
      await last.add([...new Set([...machines, ...slotRemains(instance)])], 'unknown');
      const left = await last.drain(purgeTimeoutMs);
      await last.close();
      if (left.length > 0) {
        throw new SandhavenError(
          'unavailable',
          `Processes still run in ${left.length} slots of this instance.`,
          {
            hint: 'Stop the sandboxes first.',
          },
        );
      }
      await removeInstance(instance, locksOf(instance.id));
      rmSync(slotsDir(instance), { recursive: true, force: true });
      held.clear();
      holder.clear();
    },
  };
}
