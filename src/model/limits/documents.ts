/** Bounds of the tools of the document database. */
import { KiB, MiB } from './units.ts';

export const documentsLimits = {
  documents: {
    /** Documents in one result. */
    limit: { min: 1, max: 10_000, default: 1_000 },
    skip: { min: 0, max: 2_147_483_647, default: 0 },
    sampleSize: { min: 1, max: 100_000, default: 1_000 },
    /** Of one result's documents as text, together. */
    resultBytes: { min: KiB, max: 16 * MiB, default: MiB },
    /** A filter, a projection, one sort criterion or one stage, as text. */
    textBytes: MiB,
    /** Of documents and lists in each other, in what callers give. */
    depth: 100,
    stages: 1_000,
    /** Values in one filter, projection or pipeline, those inside others counted too. */
    queryNodes: 100_000,
    /** Of a place in a query, as refusals name it, and of one key in it. */
    placeChars: 400,
    placeKeyChars: 60,
    /** Names of a caller's own that a mistaken one is compared with. */
    suggestedAmong: 100,
    sortFields: 32,
    databaseNameBytes: 63,
    collectionNameBytes: 255,
    databases: 10_000,
    collections: 10_000,
    /** What the server may work on one query. */
    queryTimeMs: 30_000,
    /** What it may work on one query whose result goes into a sandbox. */
    exportTimeMs: 30 * 60_000,
    /** A probe that only explains a result, and is left out when it takes longer. */
    probeTimeMs: 250,
    connectTimeoutMs: 5_000,
    serverSelectionTimeoutMs: 5_000,
    connections: 20,
    /** Notes of one result. */
    notes: 10,
    noteChars: 600,
    /** Documents of a saved result that come back with the answer. */
    savedExamples: 3,
    /** Keys whose order of use is remembered; the least recently used goes first. */
    rememberedKeys: 1_000,
    /** Collections remembered for each key. */
    rememberedCollections: 10_000,
    /** Schemas that are kept, of all keys together. */
    schemas: 500,
  },
} as const;
