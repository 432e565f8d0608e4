/**
 * Frees the locks of dead instances. An instance is dead when its data directory or its run folder is gone, no
 * service serves it and no process has the ids of any of its slots; its remains in the kernel are removed too.
 * An instance that is merely not running keeps all it has. Nothing outlives a reboot, so a lock of an earlier
 * boot holds nothing.
 */
import { existsSync, readdirSync, readlinkSync } from 'node:fs';
import type { Log } from '../../../control/ports/index.ts';
import { slotsWithProcesses } from '../host/host-ids.ts';
import { isAlive } from '../host/liveness.ts';
import { allLocks, currentBootId, currentNetworkNamespace, freeLocks, type Lock } from '../host/locks.ts';
import { addressOf, type Instance } from '../host/plan.ts';
import { removeFirewall } from './firewall.ts';
import { removeGatewayAddress, removeSlots } from './namespaces.ts';
import { restoreUplinks } from './uplinks.ts';

/** Frees the locks of instances other than `own` that are dead. */
export async function reclaimDeadInstances(own: Instance, launcherPath: string, log: Log): Promise<void> {
  const others = allLocks().filter(({ instance }) => instance.id !== own.id);
  const bootId = currentBootId();
  freeLocks(others.filter((lock) => lock.bootId !== bootId));

  const suspects = others.filter((lock) => lock.bootId === bootId && isAbandoned(lock.instance));
  if (suspects.length === 0) return;
  const busy = await slotsWithProcesses();
  const elsewhere = otherNetworkNamespaces();
  for (const locks of Map.groupBy(suspects, ({ instance }) => instance.id).values()) {
    const [first] = locks;
    if (!first || locks.some(({ index }) => busy.has(index)) || !isAbandoned(first.instance)) continue;
    // Its links and rules can only be removed in its network namespace; with no process in that, they are gone.
    if (locks.some(({ networkNamespace }) => elsewhere.has(networkNamespace))) continue;
    log.info('freeing the slots of an instance that is gone', {
      instance: first.instance.id,
      slots: locks.length,
    });
    await removeInstance(first.instance, locks, launcherPath);
  }
}

export function isAbandoned(instance: Instance): boolean {
  const { runDir, dataDir } = instance;
  return !(existsSync(runDir) && existsSync(dataDir)) && !isAlive(instance);
}

/** Network namespaces of all processes, except this one's. */
function otherNetworkNamespaces(): Set<string> {
  const namespaces = new Set<string>();
  for (const pid of readdirSync('/proc').filter((name) => /^\d+$/.test(name))) {
    try {
      namespaces.add(readlinkSync(`/proc/${pid}/ns/net`));
    } catch {
      // The process has ended, or is a zombie and in no namespace.
    }
  }
  namespaces.delete(currentNetworkNamespace());
  return namespaces;
}

/** Removes everything that an instance without machines has in the kernel, then its locks. */
export async function removeInstance(instance: Instance, locks: Lock[], launcherPath: string): Promise<void> {
  await removeSlots(
    instance,
    locks.map(({ index }) => index),
    launcherPath,
  );
  await removeFirewall(instance.id);
  for (const { index, purpose } of locks) {
    if (purpose === 'gateway') await removeGatewayAddress(addressOf(index));
  }
  restoreUplinks(instance.id);
  freeLocks(locks);
}
