/** Bounds of the host: its memory, its kernel's tables, its devices, the event loop. */
import { GiB, KiB, MiB } from './units.ts';

export const hostLimits = {
  processor: {
    /**
     * Weight of all machines together, as a multiple of the kernel's weight for each of the host's own programs, or
     * groups of them. Higher where the service has a group of its own: else they would come before it.
     */
    weightOfAll: { besideService: 4, besideOthers: 0.75 },
    /** Weight of the service's own group. */
    weightOfService: 8,
    /** Precedence of the service's main thread over other programs, in steps of `nice`. */
    serviceNiceness: 5,
    /** Shares of one owner's machines together, however many are busy. */
    sharesPerOwner: 16_384,
    /** Shares of one machine: the least that the kernel takes. */
    sharesMin: 2,
    lookIntervalMs: 1_000,
    /** Part of the host's processors in use; below it, no owner is limited. */
    contended: 0.5,
    /**
     * Part of one processor that makes a machine busy; or, where all get little, part of the largest consumer's, and at
     * least the third number.
     */
    busy: 0.05,
    busyBesideLargest: 0.005,
    busyLeast: 0.002,
  },
  disk: {
    /** Freezes the machines of the owners with most of it below this; they continue at one and a half times as much. */
    shortBytes: 4 * GiB,
    /** Below it disks are measured, and checked more often. */
    watchedBytes: 16 * GiB,
    watchedIntervalMs: 500,
    /** Recent growth counts first, from this number of bytes. */
    recentMs: 10_000,
    recentGrowthBytes: 64 * MiB,
    /** Else all growth since disks are watched, or since the last freeze: slow growth over hours also fills a disk. */
    growthBytes: 256 * MiB,
    /** Freezes the owners who together caused this part of the growth. */
    growthPart: 0.75,
    /** Promise of one disk, as a multiple of the free space. */
    promisedPerFree: 4,
    /** Promise of all disks, unless the operator sets another bound. */
    overcommit: { min: 1, default: 100, max: 1_000_000 },
    /** Size of the volume that disks may lie in. Below the first, too little is left to start anything; ext4 has no larger files. */
    volumeGb: { min: 16, max: 16_000 },
    /** Its journal, the one part that never waits for room on the host: it is written in full at the beginning. */
    volumeLogMb: 64,
  },
} as const;

/** Bounds of machines' use of the host's kernel, beside their memory limit. */
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

/** Bounds of an operator's CDI specifications. One of a host with eight GPUs has some 100 KiB. */
export const gpusLimits = {
  cdi: {
    /** Specifications in one folder. */
    specs: 64,
    specBytes: 2 * MiB,
    /** Devices of one specification. */
    devices: 512,
    /** Entries of one list of edits; a machine has at most as many as nine of them, the devices' and the common one. */
    deviceNodes: 64,
    mounts: 1_024,
    env: 128,
    /** Names in a folder that are searched for further names of a library. */
    folderNames: 65_536,
  },
} as const;

/** Bounds of the event loop's time for foreign bytes, and of foreign JSON. */
export const loopLimits = {
  loop: {
    /**
     * Time in one turn of the event loop, for the bytes of all sandboxes and of all remotes together. A call of another
     * user takes a few turns.
     */
    turnMs: 1,
    /** Slice of one source's bytes: its first size, and the range of later ones. */
    sliceBytes: { first: 4 * KiB, min: KiB / 2, max: 64 * KiB },
    /** A slower slice is followed by smaller ones, one under a quarter of this time by larger ones. */
    sliceMs: 0.5,
    /** Shorter pieces of bytes are joined before they are passed on. */
    pieceBytes: 4 * KiB,
    /** Size of a page of joined pieces, and pieces of one body in a turn of the loop. */
    pageBytes: 16 * KiB,
    piecesPerTurn: 1_024,
  },

  /** JSON of one frame: values, and nesting. */
  agentJson: { nodes: 65_536, depth: 16 },
  /** Text of an agent's error. */
  agentErrorBytes: 64 * KiB,
  /** Text about an agent's breach of the protocol. */
  agentBreachChars: 300,
} as const;
