/**
 * Copy of a running machine's disk: a helper freezes the machine's processes, lets the kernel write out its file system,
 * copies the image, and thaws. The helper is a process of its own and thaws at its deadline, so that the service's end in
 * between keeps no machine frozen; the next start thaws all that are left (`disk-guard.ts`).
 *
 * BLKFLSBUF writes out the file system on a device, whatever mount namespace it is mounted in. Source: Linux,
 * block/ioctl.c, blkdev_flushbuf.
 */
import { limits } from '../../../model/limits.ts';
import type { Helpers } from '../host/helper.ts';

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
