/** Bounds of machines' use of the host's kernel, beside their memory limit. */
import { KiB, MiB } from './units.ts';

export const kernelLimits = {
  kernel: {
    /**
     * On cgroup v1, where buffers of TCP and UDP are apart from a machine's memory: those of a machine of any size, which more
     * than that would not make faster, and of all machines together, as a divisor of their memory.
     */
    socketMemoryBytes: 64 * MiB,
    socketMemoryDivisor: 16,
    /** Share of the host's process ids and threads for all machines together. */
    processShare: 3 / 4,
    /** Setting of a host that has less: a number for every thread that its memory could hold. */
    pidMax: 4_194_304,
    /**
     * An open file costs its machine more memory than this, so memory ends before the host's number of open files does.
     */
    bytesPerOpenFile: 128,
    /** Interval of the check of machines, and machines of each check. */
    watchIntervalMs: 1_000,
    watchedPerInterval: 256,
    /** Interval of reading the host's available memory; a fall of it brings the next check forward. */
    glanceIntervalMs: 100,
    /** Sockets of a machine that are too few to hold much. */
    sockets: 16,
    /** Memory of one machine in netlink queues or in unaccepted connections: above it its programs are killed. */
    uncountedBytes: 128 * MiB,
    /**
     * The same of all machines together, as a divisor of the host's memory: above it the largest owner's programs end
     * first.
     */
    uncountedDivisor: 16,
    /** File locks of one machine, and the bytes of each. Above it its programs are killed. */
    fileLocks: 20_000,
    fileLockBytes: 192,
    /** Open files of one machine, all its processes together, and the uncharged bytes behind each at most. */
    openFiles: 500_000,
    openFileBytes: 280,
    /** Memory of a socket without data. */
    connectionBytes: 4 * KiB,
    /**
     * Bytes read of one listing of sockets, which a machine can make arbitrarily long: about 100,000 connections.
     * Unseen connections of a machine count as unowned.
     */
    listingBytes: 16 * MiB,
    /** Bytes read of a listing of locks: room for more than one machine may have. */
    lockListingBytes: 2 * MiB,
    /** Longest time of a census of locks: a million take 0.17 s of a processor. */
    lockCountTimeoutMs: 30_000,
    /** Pause after a count of machines' locks, as a multiple of its duration. Through descriptors, 20,000 take two seconds. */
    lockCountPause: 4,
  },
} as const;
