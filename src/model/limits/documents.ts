/** Bounds of the tools of the document database. */
import { KiB, MiB } from './units.ts';

/** Of what is learned about one collection. */
const schemaLimits = {
  /** Fields that are told apart, nested ones included. */
  fields: 4_000,
  /** Longest name of a field that is told apart from others. */
  nameBytes: 512,
  /** Names of fields whose hashes are the same; more are somebody's intention. */
  namesWithOneHash: 16,
  /** Names that are data, counted one by one. */
  countedNames: 10_000,
  /** So many different names in one object may be data, whatever they look like; so many are, if nested. */
  manyNames: 100,
  veryManyNames: 200,
  /** Different values of a field that still are an enum. */
  enumValues: 50,
  enumValueBytes: 100,
  examples: 3,
  exampleChars: 60,
  /** Strings of one field whose shape is looked at: the first of any field, and more where it holds other types too. */
  shapedFirst: 20,
  shapedStrings: 200,
  /** Different shapes that are told apart, and those that are shown. */
  shapes: 20,
  shownShapes: 3,
  /** Of a whole schema as JSON; more fields than fit get so many bytes each. */
  shownBytes: 8 * KiB,
  shownFieldBytes: 136,
  shownFields: 400,
  /** Of one field's enum as JSON. */
  shownEnumBytes: 500,
  shownValidatorBytes: KiB,
} as const;

export const documentsLimits = {
  documents: {
    /** Documents in one result. */
    limit: { min: 1, max: 10_000, default: 1_000 },
    skip: { min: 0, max: 2_147_483_647, default: 0 },
    sampleSize: { min: 1, max: 100_000, default: 1_000 },
    /** Of one result's documents as text, together. Only who asks for less gets less than `limit` documents for it. */
    resultBytes: { min: KiB, max: 16 * MiB, default: 16 * MiB },
    /** Others get their turn after so many bytes of text. */
    resultTurnBytes: MiB,
    /** All texts of one query together: filter, projection and sort, or the stages of a pipeline. */
    textBytes: MiB,
    /** Shorter ones are read at once, and do not wait for the long ones of others. */
    shortQueryChars: 4 * KiB,
    /** Of documents and lists in each other, in what callers give. */
    depth: 100,
    /** Of what the server sends: a stage may wrap a stored document, which has 100 at most, in more. */
    resultDepth: 250,
    /** Of a caller's text, on each side of the place where it is wrong. */
    excerptChars: 32,
    /** Keys and indexes in the name of a place. */
    placeParts: 16,
    stages: 1_000,
    /** Values in all texts of one query, those inside others counted too: reading them takes less than 100 ms. */
    queryNodes: 25_000,
    /** Of a place in a query, as refusals name it, and of one key in it. */
    placeChars: 400,
    placeKeyChars: 60,
    /** Names of a caller's own that a mistaken one is compared with. */
    suggestedAmong: 100,
    sortFields: 32,
    /** Strings of one filter that are tried as other types: one with more runs only as it is written. */
    readStrings: 4_000,
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
    /** All that is asked only to explain a result; what takes longer is left out. */
    probeTimeMs: 250,
    connectTimeoutMs: 5_000,
    serverSelectionTimeoutMs: 5_000,
    /** What an answer may take beyond the server's own time for it: connecting and the way here. */
    replyGraceMs: 10_000,
    /** How long the server is told goodbye. */
    closeMs: 1_000,
    /** A query that was lost is sent again after this pause. */
    againAfterMs: 250,
    /** How long a query waits for a free connection. */
    queueTimeMs: 10_000,
    /** A connection that nobody used for so long is closed. */
    idleConnectionMs: 5 * 60_000,
    /** Documents that are asked for in one round trip. */
    batchDocuments: 1_000,
    /** The same for a sample, of which nothing is kept but what it tells. */
    sampleBatchDocuments: 4_000,
    /** Others get their turn after as many documents of a sample. */
    sampleTurnDocuments: 1_000,
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
    /** A value, and the name of a field, in a note. */
    noteValueChars: 80,
    noteNameChars: 120,
    /** Names or values in one note; of the others only how many there are. */
    noteItems: 4,
    /** Conditions of one query, and fields that it names, that are compared with the schema. */
    hintedConditions: 100,
    /** Conditions and stages of a query that is explained at all: judging more of them would hold up others. */
    explainedConditions: 2_000,
    explainedStages: 100,
    /** Segments of a path; of a longer one nothing is said. */
    judgedSegments: 16,
    /** "Did you mean": names for one mistaken one. */
    suggestions: 2,
    /** Mistaken names of one query that are compared with all that there are. */
    suggestedFor: 4,
    /** Of the names that there are, those that are compared. */
    comparedNames: 1_000,
    comparedNameChars: 60,
    /** Questions that are asked to explain one empty result, `probeTimeMs` for all of them together. */
    probes: 8,
    /** In collections beyond it only what has an index is asked. */
    probedDocuments: 100_000,
    /** Documents from which on reading them all is worth a note. */
    largeCollection: 10_000,
    /** Names of fields that a saved result tells, and the documents that they are taken from. */
    savedNames: 50,
    savedNamesOf: 100,
    /** Keys whose order of use is remembered; the least recently used goes first. */
    rememberedKeys: 1_000,
    /** Collections remembered for each key. */
    rememberedCollections: 10_000,
    /** Schemas that are kept, of all keys together. */
    schemas: 500,
    schema: schemaLimits,
    /** The data set to try the tools on. */
    demo: {
      /** In all collections together. Fewer leave none of some kinds. */
      documents: { min: 100, max: 10_000_000, default: 100_000 },
      batchDocuments: 500,
      /** Until a server that was just started answers, then for one attempt to reach it. */
      readyMs: 120_000,
      attemptMs: 2_000,
      /** Batches on their way to the server. */
      batchesInFlight: 4,
    },
  },
} as const;
