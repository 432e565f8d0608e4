/** Bounds of what machines take of the host's kernel, beside what their memory limit counts. */
import { KiB, MiB } from './units.ts';

export const kernelLimits = {
  kernel: {
    /** On cgroup v1, where buffers of TCP and UDP are apart from a machine's memory: one part in so many of it, at least … */
    socketMemoryDivisor: 16,
    socketMemoryMinBytes: 64 * MiB,
    /** The share of the host's process ids and threads that machines have together. */
    processShare: 3 / 4,
    /** What the host is set to where it has less: a number for every thread that its memory could hold. */
    pidMax: 4_194_304,
    /** An open file costs its machine more memory than this, so memory ends before the host's number of open files does. */
    bytesPerOpenFile: 128,
    /** How often machines are looked at, and at most how many each time. */
    watchIntervalMs: 1_000,
    watchedPerInterval: 256,
    /** How often the host's available memory is asked for, whose fall brings the next look forward. */
    glanceIntervalMs: 100,
    /** Sockets of a machine that are too few to hold much. */
    sockets: 16,
    /** Of one machine, in netlink queues or in connections that nobody has accepted: past it its programs end. */
    uncountedBytes: 128 * MiB,
    /** Of all machines together, one part in so many of the host's memory: past it whoever has most ends first. */
    uncountedDivisor: 16,
    /** Of one machine, and the bytes of each. Past it its programs end. */
    fileLocks: 20_000,
    fileLockBytes: 192,
    /** Of one machine, all its processes together, and what is behind each at most that nobody is charged for. */
    openFiles: 500_000,
    openFileBytes: 280,
    /** What a socket takes that holds no data. */
    connectionBytes: 4 * KiB,
    /**
     * Read of one listing of sockets, which a machine can make as long as it likes: about 100,000 connections. Of a
     * machine that has more, those that are not seen count as nobody's.
     */
    listingBytes: 16 * MiB,
    /** Read of a listing of locks: room for more than one machine may have. */
    lockListingBytes: 2 * MiB,
    /** After a count of machines' locks, the next one waits so many times as long as it took: 20,000 take two seconds. */
    lockCountPause: 1,
  },
} as const;
