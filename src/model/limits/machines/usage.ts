/** Bounds of figures about sandboxes that somebody looks at. */
import { KiB } from '../units.ts';

export const usageLimits = {
  usage: {
    /** Pause between two turns of samples. */
    intervalMs: 5_000,
    /** Pause before the turn that a new viewer begins. */
    joinMs: 1_000,
    /** Sandboxes in one turn: of one owner, and of all. On a host a sample is three small reads. */
    host: { perOwner: 200, total: 1_000, atOnce: 8 },
    /** By an agent on a network a sample is three requests. */
    cluster: { perOwner: 32, total: 128, atOnce: 4 },
    /** Owners in one turn whose sandboxes are measured side by side; they divide `atOnce`. */
    ownersAtOnce: 4,
    /** One sample by an agent: its longest wait, and bytes of one file. */
    insideMs: 2_000,
    insideBytes: 8 * KiB,
  },
} as const;
