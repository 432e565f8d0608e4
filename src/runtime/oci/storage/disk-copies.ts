/**
 * Copies of the disk of a sandbox that may run, made in the sandbox's turn: no start, stop or archive meanwhile.
 *
 * Invariant: a copied disk is as after a cut of power at one moment, which its journal repairs; never of two moments.
 */
import { readFile, stat } from 'node:fs/promises';
import { join } from 'node:path';
import { SandhavenError } from '../../../model/errors.ts';
import { limits } from '../../../model/limits.ts';
import { assertRoomForCopy, copyImage } from '../disk/copy-image.ts';
import { waitUntilFree } from '../disk/loop-devices.ts';
import { unlessMissing } from '../host/files.ts';
import { HelperFailure, type Helpers } from '../host/helper.ts';
import { type Layout, LOOP_NOTE } from '../host/layout.ts';
import { allocatedBytes } from '../host/room.ts';
import type { Cgroups } from '../machine/cgroups.ts';
import type { Freezer } from '../machine/freezer.ts';
import type { Machines } from '../machine/running.ts';

export interface DiskCopies {
  /**
   * Copies the disk to a new file; returns false when there is none. Rejects with `unavailable` when its machine cannot be
   * frozen, or not long enough; `resource_exhausted` when the host's disk has no room for it.
   * @param options `isUrgent` false lets running machines go first, and keeps room for a packed form of the copy.
   */
  copy(id: string, target: string, options: { signal: AbortSignal; isUrgent: boolean }): Promise<boolean>;
}

interface Dependencies {
  layout: Layout;
  cgroups: Pick<Cgroups, 'freezers'>;
  freezer: Pick<Freezer, 'during'>;
  machines: Pick<Machines, 'running'>;
  helpers: Helpers;
}

/** A backup is never urgent: running machines go first. */
const NICENESS = 10;

export function createDiskCopies({ layout, cgroups, freezer, machines, helpers }: Dependencies): DiskCopies {
  /** Without a low priority: the machine stands still meanwhile. */
  async function copyRunning(
    id: string,
    generation: number,
    target: string,
    signal: AbortSignal,
  ): Promise<void> {
    const device = await readFile(join(layout.bundle(id, generation), LOOP_NOTE), 'utf8');
    const copy = {
      device: `/dev/${device.trim()}`,
      source: layout.disk(id),
      target,
      groups: cgroups.freezers(id),
      signal,
    };
    try {
      // The helper thaws by itself; one that was killed did not.
      await freezer.during(id, () => freezeAndCopy(helpers, copy));
    } catch (error) {
      throw error instanceof HelperFailure ? (refusal(error) ?? error) : error;
    }
  }

  async function copyIdly(disk: string, target: string, signal: AbortSignal): Promise<void> {
    const cp = ['-c', '2', '-n', '7', 'cp', '--reflink=auto', '--sparse=always', disk, target];
    const options = { timeoutMs: limits.archiveHelperTimeoutMs, signal, nice: NICENESS, lock: disk };
    await helpers.run('ionice', cp, options);
  }

  return {
    async copy(id, target, { signal, isUrgent }) {
      const disk = layout.disk(id);
      const held = await allocatedBytes(disk);
      if (held === null) return false;
      const machine = await machines.running(id);
      const wanted = isUrgent ? held : 2 * held;
      if (machine !== null || !isUrgent) await assertRoomForCopy(layout.sandboxes, wanted);
      if ((await unlessMissing(stat(`${disk}.growing`))) !== null) throw grows();
      if (machine !== null) await copyRunning(id, machine.generation, target, signal);
      else {
        await waitUntilFree(disk);
        if (isUrgent) await copyImage(helpers, { source: disk, target, signal, lock: disk });
        else await copyIdly(disk, target, signal);
      }
      return true;
    },
  };
}

function refusal(error: HelperFailure): SandhavenError | null {
  const seconds = limits.backups.frozenMs / 1000;
  const details: Record<number, string> = {
    [FREEZE_STATUS.notFrozen]: 'Its processes could not be frozen.',
    [FREEZE_STATUS.tooLong]: `Its disk could not be copied within ${seconds} s, the longest pause of a running sandbox.`,
  };
  const detail = details[error.exitCode ?? -1];
  return detail === undefined
    ? null
    : new SandhavenError('unavailable', detail, { hint: 'Stop the sandbox, and try again.' });
}

function grows(): SandhavenError {
  return new SandhavenError('unavailable', 'Its disk was being enlarged when the service ended.', {
    hint: 'Start the sandbox once, and try again.',
  });
}

// Copy of a running machine's disk: a helper freezes the machine's processes, lets the kernel write out its file system,
// copies the image, and thaws. The helper is a process of its own and thaws at its deadline, so that the service's end in
// between keeps no machine frozen; the next start thaws all that are left (`disk-guard.ts`).
//
// BLKFLSBUF writes out the file system on a device, whatever mount namespace it is mounted in. Source: Linux,
// block/ioctl.c, blkdev_flushbuf.

/** Exit statuses of the script. */
export const FREEZE_STATUS = { notFrozen: 81, tooLong: 82 } as const;

export interface FrozenCopy {
  /** Loop device of the disk. */
  device: string;
  source: string;
  target: string;
  /** Folders of the machine's cgroup in the hierarchies that can freeze. */
  groups: string[];
  signal: AbortSignal;
}

export async function freezeAndCopy(helpers: Helpers, copy: FrozenCopy): Promise<void> {
  const { device, source, target, groups, signal } = copy;
  const seconds = String(limits.backups.frozenMs / 1000);
  await helpers.run('sh', ['-c', SCRIPT, 'freeze', seconds, device, source, target, ...groups], {
    timeoutMs: limits.backups.frozenMs * 2 + GRACE_MS,
    signal,
  });
}

/** For the first flush, while nothing is frozen yet. */
const GRACE_MS = 60_000;

/**
 * The watcher thaws also while a flush or the copy hangs in the kernel. A machine that somebody else thawed meanwhile, or
 * the watcher, was copied at two moments: the copy then counts as failed.
 */
const SCRIPT = `
seconds=$1; device=$2; source=$3; target=$4; shift 4
set_all() {
  v1=$1; v2=$2; shift 2
  for group; do
    if [ -e "$group/freezer.state" ]; then echo "$v1" > "$group/freezer.state"
    elif [ -e "$group/cgroup.freeze" ]; then echo "$v2" > "$group/cgroup.freeze"
    fi
  done 2> /dev/null
}
all_frozen() {
  found=1
  for group; do
    if [ -e "$group/freezer.state" ]; then
      read -r state < "$group/freezer.state"
      [ "$state" = FROZEN ] || return 1
      found=0
    elif [ -e "$group/cgroup.events" ]; then
      grep -qx 'frozen 1' "$group/cgroup.events" || return 1
      found=0
    fi
  done
  return $found
}
blockdev --flushbufs "$device" || exit 1
trap 'set_all THAWED 0 "$@"; kill "$watcher" 2> /dev/null' EXIT
trap 'exit 1' HUP INT TERM
(sleep "$seconds"; set_all THAWED 0 "$@") < /dev/null > /dev/null 2>&1 &
watcher=$!
set_all FROZEN 1 "$@"
tries=0
until all_frozen "$@"; do
  tries=$((tries + 1))
  [ "$tries" -lt 1000 ] || exit ${FREEZE_STATUS.notFrozen}
  sleep 0.005
done
blockdev --flushbufs "$device" || exit 1
timeout -s KILL "$seconds" cp --reflink=auto --sparse=always "$source" "$target"
status=$?
[ "$status" -ne 124 ] && [ "$status" -ne 137 ] || exit ${FREEZE_STATUS.tooLong}
[ "$status" -eq 0 ] || exit 1
all_frozen "$@" || exit ${FREEZE_STATUS.tooLong}
`;
