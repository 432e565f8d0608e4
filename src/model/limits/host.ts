/** Bounds of what all machines of a host share: its processors, and what its disk has left. */
import { GiB, MiB } from './units.ts';

export const hostLimits = {
  processor: {
    /**
     * All machines together, as so many times what the kernel gives each program of the host's own, or each group of them.
     * More where the service has a group of its own: else they would come before it.
     */
    weightOfAll: { besideService: 4, besideOthers: 0.75 },
    /** The service's own group. */
    weightOfService: 8,
    /** How much the service's main thread is before other programs, in steps of `nice`. */
    serviceNiceness: 5,
    /** Of one owner's machines together, however many work. */
    sharesPerOwner: 16_384,
    /** Of one machine: the least that the kernel takes. */
    sharesMin: 2,
    lookIntervalMs: 1_000,
    /** While less than this part of the host's processors is in use, nobody waits for anybody. */
    contended: 0.5,
    /**
     * A machine works when it takes this part of one processor; or, where all get little, this part of what the one takes
     * that takes most, and at least the third.
     */
    busy: 0.05,
    busyBesideLargest: 0.005,
    busyLeast: 0.002,
  },
  disk: {
    /** Below it the machines of whoever takes most of it are frozen; they go on at one and a half times as much. */
    shortBytes: 4 * GiB,
    /** Below it disks are measured, and looked at more often. */
    watchedBytes: 16 * GiB,
    watchedIntervalMs: 500,
    /** Growth of the last moments goes first, once it is worth mentioning. */
    recentMs: 10_000,
    recentGrowthBytes: 64 * MiB,
    /** Else all that there was since disks are watched, or since somebody was frozen: who takes little for hours, takes it too. */
    growthBytes: 256 * MiB,
    /** Those are frozen who together made this part of the growth. */
    growthPart: 0.75,
    /** One disk promises at most so many times what is free. */
    promisedPerFree: 4,
    /** All disks together, unless the operator says otherwise. */
    overcommit: { min: 1, default: 100, max: 1_000_000 },
  },
} as const;
