/** Bounds of secrets that sandboxes use. */
import { KiB } from '../units.ts';

export const secretsLimits = {
  secrets: {
    /** Secrets of one owner, and those of one sandbox. */
    perOwner: 100,
    perSandbox: 10,
    /** Targets of one secret, and characters of one. */
    targets: 20,
    targetChars: 300,
    nameChars: 63,
    placeChars: 512,
    /** A shorter value would be found, and hidden, everywhere in answers. */
    valueChars: { min: 8 },
    valueBytes: 8 * KiB,
    /** Secrets whose uses wait to be stored, and the time for which they do. */
    usesKept: 10_000,
    usesStoredMs: 30_000,
    /** Pause between two looks at authorizations that running sandboxes use. */
    providerLookMs: 60_000,
  },
} as const;
