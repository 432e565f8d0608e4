/**
 * The service's own share of the processors. Beside the root's other programs and all machines together it would be one
 * of many, or a part of one: the programs of a login session, its shell included, have one share between them.
 *
 * Applies only to a service in no group. Otherwise its init system or container runtime has given it one, and sets that
 * group's weight (`CPUWeight=` of a systemd unit).
 *
 * The spawner has started by then and stays outside, with the programs that it runs. A spawner that replaces a killed
 * one starts in the group.
 */
import { mkdir, readFile, rmdir, writeFile } from 'node:fs/promises';
import { setTimeout as sleep } from 'node:timers/promises';
import { Patience } from '../../../concurrency/patience.ts';
import { limits } from '../../../model/limits.ts';
import { processesOf } from '../host/cgroup-processes.ts';
import { isMissing } from '../host/files.ts';
import { controllerHierarchy, type Hierarchy } from '../host/hierarchies.ts';
import { setWeight } from './processor-groups.ts';

export interface ServiceGroup {
  /** Moves this process, and with it all that it starts from now on. Returns true when it is in the group now. */
  join(): Promise<boolean>;
  /** Moves all processes of the group back to the root group, and removes it, also after a killed service. */
  leave(): Promise<void>;
}

const RETRY_MS = 5;

export function createServiceGroup(instanceId: string, hierarchies: Hierarchy[]): ServiceGroup {
  const hierarchy = controllerHierarchy(hierarchies, 'cpu');
  const name = `sandhaven-${instanceId}-service`;

  return {
    async join() {
      if (!hierarchy || (await ownGroup(hierarchy)) !== '/') return false;
      await mkdir(`${hierarchy.mountpoint}/${name}`, { recursive: true });
      await setWeight(hierarchy, name, limits.processor.weightOfService);
      await move(process.pid, `${hierarchy.mountpoint}/${name}`);
      return true;
    },

    async leave() {
      if (hierarchy) await dissolve(`${hierarchy.mountpoint}/${name}`, hierarchy.mountpoint);
    },
  };
}

/** Returns the path of this process's group in the hierarchy; null when it is in none. */
async function ownGroup({ version, controllers }: Hierarchy): Promise<string | null> {
  const lines = (await readFile('/proc/self/cgroup', 'utf8')).split('\n').map((line) => line.split(':'));
  const own = lines.find(([, names = '']) =>
    version === 2 ? names === '' : names.split(',').some((name) => controllers.includes(name)),
  );
  return own?.[2] ?? null;
}

/** Empties and removes the group. Repeats, because a process may start another meanwhile. */
async function dissolve(group: string, into: string): Promise<void> {
  const patience = new Patience(limits.teardownStuckMs);
  for (;;) {
    const left = await processesOf(group);
    for (const pid of left) await move(pid, into);
    try {
      return await rmdir(group);
    } catch (error) {
      if (isMissing(error)) return;
      if (patience.isOver(left.length)) throw error;
    }
    await sleep(RETRY_MS);
  }
}

async function move(pid: number, group: string): Promise<void> {
  try {
    await writeFile(`${group}/cgroup.procs`, String(pid), { flag: 'r+' });
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'ESRCH') throw error;
  }
}
