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
    sortFields: 32,
    databaseNameBytes: 63,
    collectionNameBytes: 255,
    databases: 10_000,
    collections: 10_000,
    /** What the server may work on one query. */
    queryTimeMs: 30_000,
    /** What it may work on drawing a random sample, before the first documents are taken. */
    drawTimeMs: 10_000,
    /** What it may work on one query whose result goes into a sandbox. */
    exportTimeMs: 30 * 60_000,
    /** A probe that only explains a result, and is left out when it takes longer. */
    probeTimeMs: 250,
    connectTimeoutMs: 5_000,
    serverSelectionTimeoutMs: 5_000,
    /** What an answer may take beyond the server's own time for it: connecting and the way here. */
    replyGraceMs: 10_000,
    connections: 20,
    /** How long a query waits for a free connection. */
    queueTimeMs: 10_000,
    /** A connection that nobody used for so long is closed. */
    idleConnectionMs: 5 * 60_000,
    /** Documents that are asked for in one round trip. */
    batchDocuments: 1_000,
    /** A saved result goes on in pieces of about this size. */
    exportChunkBytes: 128 * KiB,
    /** Collections that are looked at side by side while they are listed. */
    discoveredAtOnce: 8,
    /** Of one collection; a server of MongoDB's own takes 64. */
    indexes: 200,
    /** Of what the server says about a query that it refuses. */
    serverMessageChars: 500,
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
