/**
 * Running machines: launches, lists, ends and clears them.
 *
 * Invariant: running machines are read from the kernel and from their state each time, never remembered. A machine
 * runs when its program was started and is in the machine's cgroup.
 */
import { readdir, readFile, rm } from 'node:fs/promises';
import { availableParallelism } from 'node:os';
import { basename, join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { createSemaphore } from '../../../concurrency/in-portions.ts';
import { growingPauses } from '../../../concurrency/patience.ts';
import type { Log } from '../../../control/ports/index.ts';
import { sandboxIdPattern } from '../../../model/ids.ts';
import { limits } from '../../../model/limits.ts';
import { waitUntilFree } from '../disk/loop-devices.ts';
import { describeFailure } from '../host/failures.ts';
import { unlessMissing } from '../host/files.ts';
import { HelperFailure, runLauncher } from '../host/helper.ts';
import { bundleGeneration, type Layout } from '../host/layout.ts';
import type { Cgroups } from './cgroups.ts';
import { type Launch, launchArguments } from './launch-arguments.ts';
import type { MachineRuntime } from './machine-runtime.ts';

export interface RunningMachine {
  /** Process id of the machine's PID 1, as the host sees it. */
  pid: number;
  generation: number;
}

export interface Machines {
  /** Resolves when the machine's program runs and its socket listens. */
  launch(launch: Launch, signal: AbortSignal): Promise<void>;
  running(id: string): Promise<RunningMachine | null>;
  /** Sends SIGTERM to PID 1, and waits for its end for at most the grace period. */
  terminate(id: string, graceMs: number): Promise<void>;
  /** Removes what still waits of an earlier machine of the sandbox. Called before each start. */
  makeWay(id: string): Promise<void>;
  /**
   * Kills the machine, and removes its state and its socket; resolves when the disk is free. Its cgroups are empty then, and go
   * in a quiet time.
   */
  clear(id: string): Promise<void>;
  /** True for some time after `clear`: cgroups of the sandbox are still there, and no machine in them. */
  hasEnded(id: string): boolean;
  /** Sandboxes with a cgroup that limits memory, but those that have ended: all that run. Costs less than `traces`. */
  present(): Promise<string[]>;
  /** Sandboxes that have a cgroup, a state or a socket, but those that have ended. */
  traces(): Promise<string[]>;
  /** Takes on the empty groups that an earlier boot of the service has left. */
  begin(): Promise<void>;
  /** Removes what waits of ended machines. */
  close(): Promise<void>;
}

export interface Programs {
  launcherPath: string;
  machineRuntime: MachineRuntime;
  log: Pick<Log, 'warn'>;
}

export function createMachines(layout: Layout, cgroups: Cgroups, programs: Programs): Machines {
  const endedGroups = createEndedGroups({ cgroups, log: programs.log });
  const queue = createSemaphore(limits.launchesPerCore * availableParallelism());

  async function running(id: string): Promise<RunningMachine | null> {
    const state = await readState(layout, id);
    if (!state) return null;
    const processes = await cgroups.processes(id);
    return processes.includes(state.pid) ? state : null;
  }

  async function withoutEnded(list: () => Promise<string[]>): Promise<string[]> {
    // Those whose groups go meanwhile have ended, too.
    const before = endedGroups.waiting();
    return (await list()).filter((id) => !before.has(id) && !endedGroups.waits(id));
  }

  return {
    running,

    launch: (launch, signal) =>
      queue.run(async () => {
        const args = launchArguments(layout, cgroups, programs.machineRuntime, launch);
        try {
          await runLauncher(programs.launcherPath, args, { timeoutMs: limits.launchTimeoutMs, signal });
        } catch (error) {
          throw error instanceof HelperFailure ? await withRuncLog(error, launch.bundle) : error;
        }
      }, signal),

    async terminate(id, graceMs) {
      const machine = await running(id);
      if (!machine) return;
      signalProcess(machine.pid, 'SIGTERM');
      const deadline = performance.now() + graceMs;
      for (const pauseMs of growingPauses(20)) {
        if (performance.now() >= deadline || !(await cgroups.processes(id)).includes(machine.pid)) return;
        await sleep(pauseMs);
      }
    },

    makeWay: endedGroups.free,

    async clear(id) {
      if (await cgroups.empty(id)) endedGroups.leave(id);
      await rm(layout.socket(id), { force: true });
      await rm(join(layout.runc, id), { recursive: true, force: true });
      await waitUntilFree(layout.disk(id));
    },

    hasEnded: endedGroups.waits,

    present: () => withoutEnded(cgroups.present),

    async traces() {
      const [groups, states, sockets] = await Promise.all([
        withoutEnded(cgroups.ids),
        readdir(layout.runc),
        readdir(layout.sockets),
      ]);
      const ids = [...groups, ...states, ...sockets.map((name) => basename(name, '.sock'))];
      return [...new Set(ids)].filter((id) => sandboxIdPattern.test(id));
    },

    async begin() {
      for (const id of await cgroups.present()) {
        if ((await cgroups.processes(id)).length === 0 && (await cgroups.empty(id))) endedGroups.leave(id);
      }
    },

    close: endedGroups.close,
  };
}

/** Adds runc's log, where there is one: it holds the cause of its failure, since its standard error belongs to the machine. */
async function withRuncLog(failure: HelperFailure, bundle: string): Promise<HelperFailure> {
  const text = await unlessMissing(readFile(join(bundle, 'runc.log'), 'utf8'));
  const said = `${failure.stderr}${(text ?? '').slice(-limits.helperOutputBytes)}`;
  return new HelperFailure(failure.program, failure.exitCode, said, failure.why);
}

function signalProcess(pid: number, signal: NodeJS.Signals): void {
  try {
    process.kill(pid, signal);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'ESRCH') throw error;
  }
}

/**
 * Reads the state of a machine whose program has started, also one that an earlier service started; null for no machine, and
 * for one half-made. Both forms are read always, whatever starts machines now: they go on when that changes.
 *
 * A process id needs no further check than its presence in the machine's cgroup: with PID 1 all processes there end, so no
 * other gets its number in that cgroup.
 */
async function readState(layout: Pick<Layout, 'runc'>, id: string): Promise<RunningMachine | null> {
  const folder = join(layout.runc, id);
  const [direct, runc, names] = await Promise.all([
    unlessMissing(readFile(join(folder, 'machine.json'), 'utf8')),
    unlessMissing(readFile(join(folder, 'state.json'), 'utf8')),
    unlessMissing(readdir(folder)),
  ]);
  if (direct !== null) return parseDirectState(direct);
  // The container's process waits at this fifo until it executes the program.
  if (runc === null || names?.includes('exec.fifo')) return null;
  return parseRuncState(runc);
}

/** @param text Content of the launcher's machine.json. Returns null when it is incomplete, as after a power cut. */
export function parseDirectState(text: string): RunningMachine | null {
  try {
    const { pid, generation } = JSON.parse(text) as Partial<Record<keyof RunningMachine, unknown>>;
    return typeof pid === 'number' && typeof generation === 'number' ? { pid, generation } : null;
  } catch {
    return null;
  }
}

/** @param text Content of runc's state.json. Returns null when it is incomplete, as after a power cut. */
export function parseRuncState(text: string): RunningMachine | null {
  try {
    const state = JSON.parse(text) as { init_process_pid?: unknown; config?: { labels?: unknown } };
    const labels = state.config?.labels;
    if (typeof state.init_process_pid !== 'number' || !Array.isArray(labels)) return null;
    const bundle = labels.find(
      (label): label is string => typeof label === 'string' && label.startsWith('bundle='),
    );
    const generation = bundle === undefined ? null : bundleGeneration(basename(bundle));
    return generation === null ? null : { pid: state.init_process_pid, generation };
  } catch {
    return null;
  }
}

// Cgroups of ended machines. While one goes, the kernel makes, changes and removes no other: for the group that limits memory it
// hands on what each list of each mounted file system has of it (4 ms among a thousand machines), for that of processors it looks
// at all others. The next creation or deletion would wait for that. So empty groups wait for a quiet time, in which those of one
// machine after another go.
//
// Invariants: groups that wait are empty, and all else of their machine is gone. No machine starts in them.

export interface EndedGroups {
  /** Leaves the sandbox's groups, which are empty, to a quiet time. */
  leave(sandboxId: string): void;
  /** Removes the sandbox's groups now if they wait. Called before each start of a machine, and makes the others wait on. */
  free(sandboxId: string): Promise<void>;
  waits(sandboxId: string): boolean;
  /** Sandboxes whose groups wait now. */
  waiting(): Set<string>;
  /** Removes all that wait. */
  close(): Promise<void>;
}

export interface EndedGroupsDependencies {
  cgroups: Pick<Cgroups, 'remove'>;
  log: Pick<Log, 'warn'>;
}

/** Time without a start or an end of a machine. */
const QUIET_MS = 300;
const PAUSE_MS = 20;
/** Of so many machines; with more, the oldest's go at once. They have some memory of the kernel's, and are more to look at. */
const MOST_WAITING = 128;

export function createEndedGroups({ cgroups, log }: EndedGroupsDependencies): EndedGroups {
  /** By sandbox, the oldest first; null while nobody removes it. */
  const waiting = new Map<string, Promise<void> | null>();
  let timer: NodeJS.Timeout | undefined;

  function remove(sandboxId: string): Promise<void> {
    const removal =
      waiting.get(sandboxId) ??
      cgroups
        .remove(sandboxId)
        // What is left is a trace of the sandbox: the next survey finds it.
        .catch((error: unknown) => {
          log.warn('cgroups of an ended sandbox could not be removed', {
            id: sandboxId,
            reason: describeFailure(error),
          });
        })
        .finally(() => waiting.delete(sandboxId));
    waiting.set(sandboxId, removal);
    return removal;
  }

  function oldest(): string | undefined {
    for (const [sandboxId, removal] of waiting) if (removal === null) return sandboxId;
    return undefined;
  }

  function removeIn(delayMs: number): void {
    clearTimeout(timer);
    timer = setTimeout(() => {
      const next = oldest();
      if (next === undefined) return;
      void remove(next);
      removeIn(PAUSE_MS);
    }, delayMs).unref();
  }

  return {
    leave(sandboxId) {
      if (!waiting.has(sandboxId)) waiting.set(sandboxId, null);
      removeIn(QUIET_MS);
      const first = oldest();
      if (waiting.size > MOST_WAITING && first !== undefined) void remove(first);
    },

    async free(sandboxId) {
      if (waiting.size > 0) removeIn(QUIET_MS);
      if (waiting.has(sandboxId)) await remove(sandboxId);
    },

    waits: (sandboxId) => waiting.has(sandboxId),
    waiting: () => new Set(waiting.keys()),

    async close() {
      clearTimeout(timer);
      for (const sandboxId of [...waiting.keys()]) await remove(sandboxId);
    },
  };
}
