/** Bounds of resources that all machines of a host share: its processors, and its free disk. */
import { GiB, MiB } from './units.ts';

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
  },
} as const;
