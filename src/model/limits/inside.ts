/** Bounds of what the agent does for the host besides commands and files; it has ceilings of its own. */
import { KiB, MiB } from './units.ts';

export const insideLimits = {
  process: {
    /** How much of a program's input may be sent before the agent says that it is taken; part of the protocol. */
    inputWindowBytes: 256 * KiB,
    /** Held of each stream of a program before the other side has to wait. */
    bufferBytes: 128 * KiB,
    /** Input and messages that an agent has yet to take. */
    unsentBytes: 512 * KiB,
    /** Columns and rows of a terminal. */
    terminalSize: 65_535,
    signalNameChars: 16,
  },

  listeningPort: {
    /** The largest that Linux gives out. */
    pid: 4_194_304,
    commandChars: 200,
  },

  tunnel: {
    /** For the agent to have a connection open, or to listen. */
    openMs: 15_000,
    /** Held for each direction of a connection before the other side has to wait. */
    bufferBytes: 256 * KiB,
    /** Connections that a listener's agent has named, and as many that are being taken. */
    connectionsTaken: 64,
    /** How fast one listener takes them. */
    taken: { perSecond: 200, burst: 128 },
    /** Of a refusal, as its client reads it. */
    problemBytes: 64 * KiB,
    /** Silence after which a client is asked whether it is still there. */
    keepaliveMs: 30_000,
    /** How long what a side sent before it left may take to reach the other. */
    lastBytesMs: 10_000,
  },

  /** The agent has ceilings of its own (`native/agent/src/session`), which are these where both name one. */
  session: {
    idChars: 64,
    /** Active in one sandbox. */
    active: 32,
    /** Of each session, in a list; then how much of a command's text. */
    recentCommands: 20,
    recentCommandChars: 1_000,
    /** How long a synchronous call waits for the command's turn, then for its end. */
    waitTurnMs: 60_000,
    waitRunMs: 600_000,
    /** How long a reader may wait for more output of a command, or its end. */
    followSeconds: { min: 0, max: 60, default: 0 },
    /** Of output, in bytes: beyond it sums are no longer sure to be exact. */
    followOffset: { min: 0, max: 2 ** 52 },
    /** Typed at once. */
    inputBytes: 64 * KiB,
    /** For a program to read its input, and for a shell to come up; the agent's own patience is shorter. */
    inputMs: 15_000,
    startMs: 20_000,
    /** For an agent to say whether commands run, before its sandbox is stopped for being idle. */
    busyMs: 2_000,
  },

  search: {
    /** Of a query, a pattern, and a replacement. */
    queryChars: 4_096,
    replacementChars: 64 * KiB,
    contextLines: { min: 0, max: 5, default: 0 },
    /** Given of one file. */
    matchesPerFile: 50,
    /** Of a page of results as JSON: values and names, of 200 files with all their matches and context. */
    page: { nodes: 160_000, keys: 42_000 },
    /** Of a line that is shown, in UTF-16 units, the marks where it is cut included. */
    shownLineUnits: 802,
    /** For one search; the agent's own answer is waited for a little longer. */
    timeoutMs: 30_000,
    /** Entries in the list of files to edit, then files once globs are expanded. */
    entries: 1_000,
    /** Globs of what a replacement leaves out. */
    excludes: 100,
    files: 1_000,
    /** Of one file that is edited, before and after. */
    fileBytes: 64 * MiB,
    fileTimeoutMs: 5_000,
    replaceTimeoutMs: 60_000,
    /** Of what is told about one file that could not be edited. */
    errorChars: 16 * KiB,
    /** Of an agent that has yet to notice that the time is over. */
    overrunMs: 10_000,
  },
} as const;
