/** Bounds of images and of snapshots. */
import { GiB, KiB, MiB } from './units.ts';

export const imagesLimits = {
  image: {
    /** Longest name, tag and digest that the registries' grammar allows, with their separators. */
    referenceChars: 456,
    layers: 256,
    /** As the registry stores it, then as files on disk, and how many files and folders. */
    compressedBytes: 8 * GiB,
    unpackedBytes: 24 * GiB,
    entries: 2_000_000,
    /** Of one file, holes included; then folders within folders. */
    fileBytes: 24 * GiB,
    depth: 256,
    /** A layer may unpack to so many times its size, and to so much beside. */
    ratio: 200,
    ratioFreeBytes: 512 * MiB,
    configBytes: MiB,
    /** Of a manifest and of a configuration as JSON: values, and arrays in objects in arrays. */
    document: { nodes: 20_000, depth: 32 },
    /** What is told of a helper's failure. */
    failureChars: 300,
    /** One question to a registry; then a whole pull, with unpacking. */
    registryTimeoutMs: 60_000,
    pullTimeoutMs: 30 * 60_000,
    /** How often growth is measured and reported. */
    measureIntervalMs: 500,
    /** A question or a fetch that a registry breaks off: how often it is asked, and the first pause, which doubles. */
    attempts: 4,
    retryDelayMs: 500,
    /** Layers as they were fetched, kept for images that share them: all together, and since their last use. */
    blobBytes: 8 * GiB,
    blobKeptMs: 7 * 24 * 60 * 60 * 1000,
    /** How long an image stays that no sandbox and no snapshot uses; the operator can say otherwise. */
    keptMinutes: 24 * 60,
    collectIntervalMs: 60_000,
  },

  snapshot: {
    /** Of one owner: those that are not finished, and all. */
    unfinished: 100,
    perOwner: 1_000,
    entrypointWords: 256,
    /** Of all words together. */
    entrypointBytes: 32 * KiB,
    /** Of the text in `state_reason`. */
    reasonChars: 500,
  },
} as const;
