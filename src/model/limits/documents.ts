/** Bounds of the tools of the document database. */
import { KiB, MiB } from './units.ts';

/** Bounds of one collection's schema. */
const schemaLimits = {
  /** Distinct fields, nested ones included. */
  fields: 4_000,
  /** Longest name of a distinct field. */
  nameBytes: 512,
  /** Names of fields with equal hashes; more are deliberate. */
  namesWithOneHash: 16,
  /** Names that are data, counted one by one. */
  countedNames: 10_000,
  /** This many distinct names in one object may be data, whatever they look like; the second number are, if nested. */
  manyNames: 100,
  veryManyNames: 200,
  /** Distinct values of a field that still form an enum. */
  enumValues: 50,
  enumValueBytes: 100,
  examples: 3,
  exampleChars: 60,
  /** Strings of one field whose shape is examined: the first of any field, and more where it holds other types too. */
  shapedFirst: 20,
  shapedStrings: 200,
  /** Distinct shapes, and shapes in a result. */
  shapes: 20,
  shownShapes: 3,
  /** A whole schema as JSON; each field above it gets the next number of bytes. */
  shownBytes: 8 * KiB,
  shownFieldBytes: 136,
  shownFields: 400,
  /** Enum of one field as JSON. */
  shownEnumBytes: 500,
  shownValidatorBytes: KiB,
} as const;

export const documentsLimits = {
  documents: {
    /** Documents in one result. */
    limit: { min: 1, max: 10_000, default: 1_000 },
    skip: { min: 0, max: 2_147_483_647, default: 0 },
    sampleSize: { min: 1, max: 100_000, default: 1_000 },
    /**
     * Total text of one result's documents. Only a caller that asks for less gets fewer than `limit` documents because
     * of it.
     */
    resultBytes: { min: KiB, max: 16 * MiB, default: 16 * MiB },
    /** Text between two turns of other work. */
    resultTurnBytes: MiB,
    /** Total text of one query: filter, projection and sort, or the stages of a pipeline. */
    textBytes: MiB,
    /** Shorter queries are parsed at once, and do not wait for long ones of other users. */
    shortQueryChars: 4 * KiB,
    /** Nesting of documents and lists in callers' values. */
    depth: 100,
    /** Nesting in the server's answers: a stage may wrap a stored document, which has 100 at most, in more. */
    resultDepth: 250,
    /** Excerpt of a caller's text, on each side of the fault. */
    excerptChars: 32,
    /** Keys and indexes in the name of a place. */
    placeParts: 16,
    stages: 1_000,
    /** Values in all texts of one query, nested ones included: parsing them takes less than 100 ms. */
    queryNodes: 25_000,
    /** Name of a place in a query, in an error, and of one key in it. */
    placeChars: 400,
    placeKeyChars: 60,
    /** A caller's own names that a mistaken one is compared with. */
    suggestedAmong: 100,
    sortFields: 32,
    /** Strings of one filter that are tried as other types: one with more runs only as it is written. */
    readStrings: 4_000,
    databaseNameBytes: 63,
    collectionNameBytes: 255,
    databases: 10_000,
    collections: 10_000,
    /** The server's time for one query. */
    queryTimeMs: 30_000,
    /** The server's time for drawing a random sample, before the first documents. */
    drawTimeMs: 10_000,
    /** The server's time for one query whose result goes into a sandbox. */
    exportTimeMs: 30 * 60_000,
    /** Total time of the probes that explain a result; slower ones are left out. */
    probeTimeMs: 250,
    connectTimeoutMs: 5_000,
    serverSelectionTimeoutMs: 5_000,
    /** Time of an answer beyond the server's own: connecting and transfer. */
    replyGraceMs: 10_000,
    /** Timeout of closing the connections. */
    closeMs: 1_000,
    /** Pause before a lost query is sent again. */
    againAfterMs: 250,
    /** Longest wait of a query for a free connection. */
    queueTimeMs: 10_000,
    /** Idle time after which a connection is closed. */
    idleConnectionMs: 5 * 60_000,
    /** Documents of one round trip. */
    batchDocuments: 1_000,
    /** The same for a sample, whose documents are not kept. */
    sampleBatchDocuments: 4_000,
    /** Documents of a sample between two turns of other work. */
    sampleTurnDocuments: 1_000,
    /** Approximate size of the pieces of a saved result. */
    exportChunkBytes: 128 * KiB,
    /** Collections examined in parallel while they are listed. */
    discoveredAtOnce: 8,
    /** Indexes of one collection; a server of MongoDB's own takes 64. */
    indexes: 200,
    /** The server's message about a query that it rejects. */
    serverMessageChars: 500,
    /** Notes of one result. */
    notes: 10,
    noteChars: 600,
    /** A value, and the name of a field, in a note. */
    noteValueChars: 80,
    noteNameChars: 120,
    /** Names or values in one note; the rest is only counted. */
    noteItems: 4,
    /** Conditions of one query, and its fields, that are compared with the schema. */
    hintedConditions: 100,
    /** Conditions and stages of a query with explanations: judging more would block other work. */
    explainedConditions: 2_000,
    explainedStages: 100,
    /** Segments of a path; longer ones get no note. */
    judgedSegments: 16,
    /** "Did you mean": names for one mistaken one. */
    suggestions: 2,
    /** Mistaken names of one query that are compared with all known ones. */
    suggestedFor: 4,
    /** Known names that are compared. */
    comparedNames: 1_000,
    comparedNameChars: 60,
    /** Probes that explain one empty result, `probeTimeMs` for all of them together. */
    probes: 8,
    /** In larger collections only indexed fields are probed. */
    probedDocuments: 100_000,
    /** Smallest collection whose full scan is worth a note. */
    largeCollection: 10_000,
    /** Names of fields in the answer for a saved result, and the documents that they are taken from. */
    savedNames: 50,
    savedNamesOf: 100,
    /** Keys whose order of use is kept; the least recently used goes first. */
    rememberedKeys: 1_000,
    /** Collections kept for each key. */
    rememberedCollections: 10_000,
    /** Schemas kept, for all keys together. */
    schemas: 500,
    schema: schemaLimits,
    /** Data set for trying the tools. */
    demo: {
      /** Total of all collections. Fewer leave some kinds empty. */
      documents: { min: 100, max: 10_000_000, default: 100_000 },
      batchDocuments: 500,
      /** Time until a new server answers, and timeout of one attempt. */
      readyMs: 120_000,
      attemptMs: 2_000,
      /** Batches on their way to the server. */
      batchesInFlight: 4,
    },
  },
} as const;
