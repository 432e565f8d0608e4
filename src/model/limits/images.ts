/** Bounds of images and registries. */
import { GiB, KiB, MiB } from './units.ts';

export const imagesLimits = {
  image: {
    /** Longest name, tag and digest that the registries' grammar allows, with their separators. */
    referenceChars: 456,
    layers: 256,
    /** Size in the registry, size of the files on disk, and number of files and folders. */
    compressedBytes: 8 * GiB,
    unpackedBytes: 24 * GiB,
    entries: 2_000_000,
    /** Size of one file, holes included; depth of folders. */
    fileBytes: 24 * GiB,
    depth: 256,
    /** Unpacked size of a layer as a multiple of its size, and a free amount beside. */
    ratio: 200,
    ratioFreeBytes: 512 * MiB,
    configBytes: MiB,
    /** A manifest or a configuration as JSON: values, and nesting. */
    document: { nodes: 20_000, depth: 32 },
    /** Text of a helper's failure. */
    failureChars: 300,
    /** Timeout of one request to a registry, and of a whole pull with unpacking. */
    registryTimeoutMs: 60_000,
    /** Hosts that one program behind a gate asks about at once. */
    gateQuestions: 64,
    pullTimeoutMs: 30 * 60_000,
    /** Interval of measuring and reporting growth. */
    measureIntervalMs: 500,
    /** Attempts of a request that a registry breaks off, and the first pause, which doubles. */
    attempts: 4,
    retryDelayMs: 500,
    /** Fetched layers, kept for images that share them: their total, and retention since their last use. */
    blobBytes: 8 * GiB,
    blobKeptMs: 7 * 24 * 60 * 60 * 1000,
    /** Retention of an image without a sandbox or a snapshot; the operator can set another. */
    keptMinutes: 24 * 60,
    collectIntervalMs: 60_000,
  },

  snapshot: {
    /** Unfinished snapshots of one owner, and all of them. */
    unfinished: 100,
    perOwner: 1_000,
    entrypointWords: 256,
    /** Total of all words. */
    entrypointBytes: 32 * KiB,
    /** Text of `state_reason`. */
    reasonChars: 500,
  },

  fork: {
    /** Sandboxes of one call. */
    count: { min: 1, max: 100 },
    /** Of those, started at once. */
    atOnce: 4,
  },
} as const;

/** Bounds of registries. */
export const registriesLimits = {
  registries: {
    /** Registries with credentials. */
    credentials: 100,
    /** A host with its port. */
    nameChars: 261,
    usernameChars: 255,
    /** Tokens of cloud registries are JSON Web Tokens, or keys of service accounts as JSON. */
    passwordBytes: 16 * KiB,
    /** Entries of --registry-mirror, and of --registry-allow. */
    rules: 100,
    /** Entries of the allow-list that an error names. */
    rulesShown: 10,
    /** Timeout of one request to a mirror, before the registry itself. */
    mirrorTimeoutMs: 15_000,
  },
} as const;
