/**
 * State of machines, by which a service recognizes those that an earlier one has started. Both forms are read always,
 * whatever starts machines now: they go on when that changes.
 *
 * A process id needs no further check than its presence in the machine's cgroup: with PID 1 all processes there end, so
 * no other gets its number in that cgroup.
 */
import { readdir, readFile } from 'node:fs/promises';
import { basename, join } from 'node:path';
import { unlessMissing } from '../host/files.ts';
import { bundleGeneration, type Layout } from '../host/layout.ts';

export interface RunningMachine {
  /** Process id of the machine's PID 1, as the host sees it. */
  pid: number;
  generation: number;
}

/** Reads the state of a machine whose program has started; null for no machine, and for one half-made. */
export async function readState(layout: Pick<Layout, 'runc'>, id: string): Promise<RunningMachine | null> {
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
