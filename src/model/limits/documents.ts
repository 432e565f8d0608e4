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
    /** Of what the server sends: a stage may wrap a stored document, which has 100 at most, in more. */
    resultDepth: 250,
    /** Of a caller's text, on each side of the place where it is wrong. */
    excerptChars: 32,
    /** Keys and indexes in the name of a place. */
    placeParts: 16,
    stages: 1_000,
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
