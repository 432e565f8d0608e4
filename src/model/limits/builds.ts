/** Bounds of builds of snapshots from Dockerfiles. */
import { GiB, KiB, MiB } from './units.ts';

export const buildsLimits = {
  build: {
    /** Context: all of its bytes, and its files and folders. */
    contextBytes: 512 * MiB,
    contextEntries: 50_000,
    pathBytes: 4_096,
    depth: 128,
    /** Of a Dockerfile, or an ignore file. The parser's time grows by the square. */
    dockerfileBytes: 32 * KiB,
    /** Levels of ${NAME:-…} in each other. */
    wordDepth: 20,
    instructions: 1_000,
    /** Patterns of `.dockerignore`, and characters of one. */
    ignorePatterns: 500,
    patternChars: 256,
    /** Time of the event loop that one build may take to match patterns, and that it takes at once. */
    matchMs: 10_000,
    matchSliceMs: 5,
    /** Build arguments, and the environment that instructions make: variables, and bytes of all together. */
    args: 100,
    variables: 1_000,
    environmentBytes: 64 * KiB,
    /** One step, and what it copies out of another stage. */
    stepMs: 60 * 60_000,
    copiedBytes: 16 * GiB,
    copiedEntries: 1_000_000,
    /** Output of a whole build that its caller gets. */
    logBytes: 16 * MiB,
    /** Without work in it, the sandbox of a build whose service was killed ends by itself. */
    autoStopMinutes: 15,
    /** Builds that outlive their request, and the bytes of what is kept of their logs. */
    detached: { total: 1_000, perOwner: 20, keptMs: 60 * 60_000, eventsOfAnswer: 100 },
    detachedLogs: { total: 64 * MiB, perOwner: 8 * MiB },
    /** Archives that wait for their build, each of some parts, and addresses at which they are awaited. */
    uploads: { total: 1_000, perOwner: 50, keptMs: 60 * 60_000, parts: 1_000 },
    /** Bodies with them that come at once, where they need no address each. */
    bodies: { total: 64, perOwner: 16 },
    uploadedBytes: { total: 4 * GiB, perOwner: 512 * MiB },
    /** Captured disks of steps, of one owner: the one that was used longest ago goes first. */
    cache: { steps: 200, bytes: 40 * GiB },
  },
} as const;
