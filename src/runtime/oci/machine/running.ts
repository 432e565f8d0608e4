/**
 * Running machines: launches, lists, ends and clears them.
 *
 * Invariant: running machines are read from the kernel and from runc's state each time, never remembered. A
 * machine runs when runc has started its program and that program is in the machine's cgroup.
 */
import { readdir, readFile, rm } from 'node:fs/promises';
import { availableParallelism } from 'node:os';
import { basename, join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { growingPauses } from '../../../concurrency/growing-pauses.ts';
import { createSemaphore } from '../../../concurrency/semaphore.ts';
import { sandboxIdPattern } from '../../../model/ids.ts';
import { limits } from '../../../model/limits.ts';
import { waitUntilFree } from '../disk/loop-devices.ts';
import type { DeviceNode } from '../gpu/device.ts';
import type { Cgroups } from '../host/cgroups.ts';
import { unlessMissing } from '../host/files.ts';
import { HelperFailure, runLauncher } from '../host/helper.ts';
import { bundleGeneration, type Layout } from '../layout.ts';
import type { Slot } from './slot.ts';

export interface RunningMachine {
  /** Process id of the machine's PID 1, as the host sees it. */
  pid: number;
  generation: number;
}

export interface Launch {
  id: string;
  bundle: string;
  /** Folder of the unpacked image. */
  lower: string;
  slot: Slot;
  nodes: DeviceNode[];
  /** Limits of open files of each process. */
  openFiles: { soft: number; hard: number };
}

export interface Machines {
  /** Resolves when the machine's program runs and its socket listens. */
  launch(launch: Launch, signal: AbortSignal): Promise<void>;
  running(id: string): Promise<RunningMachine | null>;
  /** Sends SIGTERM to PID 1, and waits for its end for at most the grace period. */
  terminate(id: string, graceMs: number): Promise<void>;
  /** Kills the machine, and removes its cgroups, runc's state and its socket; resolves when the disk is free. */
  clear(id: string): Promise<void>;
  /** Sandboxes that have a cgroup, runc state or a socket. */
  traces(): Promise<string[]>;
}

export interface Programs {
  launcherPath: string;
  runcPath: string;
}

export function createMachines(layout: Layout, cgroups: Cgroups, programs: Programs): Machines {
  const queue = createSemaphore(limits.launchesPerCore * availableParallelism());

  async function running(id: string): Promise<RunningMachine | null> {
    const state = await readRuncState(layout, id);
    if (!state) return null;
    const processes = await cgroups.processes(id);
    return processes.includes(state.pid) ? state : null;
  }

  return {
    running,

    launch: (launch, signal) =>
      queue.run(async () => {
        const args = launchArguments(layout, cgroups, programs.runcPath, launch);
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

    async clear(id) {
      await cgroups.destroy(id);
      await rm(layout.socket(id), { force: true });
      await rm(join(layout.runc, id), { recursive: true, force: true });
      await waitUntilFree(layout.disk(id));
    },

    async traces() {
      const [groups, states, sockets] = await Promise.all([
        cgroups.ids(),
        readdir(layout.runc),
        readdir(layout.sockets),
      ]);
      const ids = [...groups, ...states, ...sockets.map((name) => basename(name, '.sock'))];
      return [...new Set(ids)].filter((id) => sandboxIdPattern.test(id));
    },
  };
}

function launchArguments(
  layout: Layout,
  cgroups: Cgroups,
  runcPath: string,
  { id, bundle, lower, slot, nodes, openFiles }: Launch,
): string[] {
  const options = {
    id,
    bundle,
    lower,
    agents: layout.agents,
    stage: layout.stage,
    disk: layout.disk(id),
    'uid-base': String(slot.uidBase),
    'open-files': `${openFiles.soft}:${openFiles.hard}`,
    socket: layout.socket(id),
    runc: runcPath,
    'runc-root': layout.runc,
  };
  const fence = cgroups.fenceFiles().flatMap((file) => ['--cgroup', file]);
  const own = cgroups.shown(id).flatMap(({ name, path }) => ['--own-cgroup', `${name}=${path}`]);
  const devices = nodes.flatMap((node) => ['--device', deviceArgument(node)]);
  return [
    'start',
    ...fence,
    ...own,
    ...devices,
    ...Object.entries(options).flatMap(([name, value]) => [`--${name}`, value]),
  ];
}

function deviceArgument({ type, major, minor, mode, uid, gid }: DeviceNode): string {
  return [type, major, minor, mode.toString(8), uid, gid].join(':');
}

/** Adds runc's log, which holds the cause of its failure: its standard error belongs to the machine. */
async function withRuncLog(failure: HelperFailure, bundle: string): Promise<HelperFailure> {
  const text = await unlessMissing(readFile(join(bundle, 'runc.log'), 'utf8'));
  const said = `${failure.stderr}${(text ?? '').slice(-limits.helperOutputBytes)}`;
  return new HelperFailure(failure.program, failure.exitCode, said, failure.why);
}

/** Reads runc's state of a container whose program has started; null for no container, and for one half-made. */
async function readRuncState(layout: Layout, id: string): Promise<RunningMachine | null> {
  const folder = join(layout.runc, id);
  const [text, waiting] = await Promise.all([
    unlessMissing(readFile(join(folder, 'state.json'), 'utf8')),
    unlessMissing(readdir(folder)),
  ]);
  // The container's process waits at this fifo until it executes the program.
  if (text === null || waiting?.includes('exec.fifo')) return null;
  return parseRuncState(text);
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

function signalProcess(pid: number, signal: NodeJS.Signals): void {
  try {
    process.kill(pid, signal);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'ESRCH') throw error;
  }
}
