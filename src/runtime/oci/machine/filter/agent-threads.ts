/**
 * Calls that change another process's limits, priority or processors, except those on the agent. The agent has the
 * uid of the machine's root, so the kernel would let that root take its descriptors or memory away.
 *
 * The agent's threads have the ids below 64, and at its start it makes sure that nobody else ever gets one
 * (`native/agent/src/init/first_ids.rs`). A filter compares with one value at a time: an id is 64 or more when one of
 * its higher bits is set.
 */
import { allow, masked, type SeccompArgument, type SeccompRule } from './rule.ts';

/** Bits of process ids from 64 on; Linux assigns no id from 2^22 on. */
const HIGH_BITS = Array.from({ length: 16 }, (_, index) => 2 ** (index + 6));
const ALL_BITS = 0xffffffff;

/** Kernel numbers of the kinds of `who`: a process, a process group. The kind "a user's processes" is left out. */
const PRIO_KINDS = [0, 1];
const IOPRIO_KINDS = [1, 2];

export function sparingTheAgent(): SeccompRule[] {
  const ofProcess = [
    'sched_setaffinity',
    'sched_setattr',
    'sched_setparam',
    'sched_setscheduler',
    'prlimit64',
  ];
  const ofKind = ['setpriority', 'ioprio_set'];
  return [
    allow(ofProcess, myself(0)),
    ...HIGH_BITS.map((bit) => allow(ofProcess, masked(0, bit, bit))),
    // A null pointer for the new limits: the call only reads.
    allow('prlimit64', { index: 2, value: 0, op: 'SCMP_CMP_EQ' }),
    ...PRIO_KINDS.map((kind) => allow('setpriority', masked(0, ALL_BITS, kind), myself(1))),
    ...IOPRIO_KINDS.map((kind) => allow('ioprio_set', masked(0, ALL_BITS, kind), myself(1))),
    ...HIGH_BITS.map((bit) => allow(ofKind, masked(1, bit, bit))),
  ];
}

const myself = (index: number): SeccompArgument => masked(index, ALL_BITS, 0);
