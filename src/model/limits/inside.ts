/** Bounds of the agent's work beside commands and files; the agent has ceilings of its own. */
import { KiB, MiB } from './units.ts';

export const insideLimits = {
  process: {
    /** Input of a program that may be sent ahead of the agent's acknowledgement; part of the protocol. */
    inputWindowBytes: 256 * KiB,
    /** Buffer of each stream of a program before the other side has to wait. */
    bufferBytes: 128 * KiB,
    /** Input and messages that an agent has yet to take. */
    unsentBytes: 512 * KiB,
    /** Columns and rows of a terminal. */
    terminalSize: 65_535,
    signalNameChars: 16,
  },

  listeningPort: {
    /** Largest process id of Linux. */
    pid: 4_194_304,
    commandChars: 200,
  },

  tunnel: {
    /** Timeout for the agent to open a connection, or to listen. */
    openMs: 15_000,
    /** Buffer of each direction of a connection before the other side has to wait. */
    bufferBytes: 256 * KiB,
    /** Connections announced by a listener's agent, and as many being accepted. */
    connectionsTaken: 64,
    /** Rate at which one listener accepts them. */
    taken: { perSecond: 200, burst: 128 },
    /** Text of an error that its client reads. */
    problemBytes: 64 * KiB,
    /** Silence after which a client is probed. */
    keepaliveMs: 30_000,
    /** Time for a side's last bytes to reach the other after it has disconnected. */
    lastBytesMs: 10_000,
  },

  /** The agent has ceilings of its own (`native/agent/src/session`), equal to these where both name one. */
  session: {
    idChars: 64,
    /** Active sessions of one sandbox. */
    active: 32,
    /** Commands of each session in a list, and the text of each. */
    recentCommands: 20,
    recentCommandChars: 1_000,
    /** Longest wait of a synchronous call for the command's turn, and for its end. */
    waitTurnMs: 60_000,
    waitRunMs: 600_000,
    /** Longest wait of a reader for more output of a command, or its end. */
    followSeconds: { min: 0, max: 60, default: 0 },
    /** Offset in bytes of output: beyond it sums may be inexact. */
    followOffset: { min: 0, max: 2 ** 52 },
    /** Input of one call. */
    inputBytes: 64 * KiB,
    /** Timeout of a program reading its input, and of a shell's start; the agent's own timeouts are shorter. */
    inputMs: 15_000,
    startMs: 20_000,
    /** Sessions of one sandbox that stay known once they are closed. */
    noted: 256,
    /** Logs that stay readable while a sandbox is stopped, and the time that a stop waits for them. */
    keptBytes: 4 * MiB,
    keepMs: 2_000,
    /** Timeout of an agent's answer about running commands, before its idle sandbox is stopped. */
    busyMs: 2_000,
  },

  search: {
    /** Length of a query or a pattern, and of a replacement. */
    queryChars: 4_096,
    replacementChars: 64 * KiB,
    contextLines: { min: 0, max: 5, default: 0 },
    /** Matches of one file in a result. */
    matchesPerFile: 50,
    /** A page of results as JSON: values and names, of 200 files with all their matches and context. */
    page: { nodes: 160_000, keys: 42_000 },
    /** A shown line, in UTF-16 units, the marks where it is cut included. */
    shownLineUnits: 802,
    /** Timeout of one search; the service waits a little longer for the agent's own answer. */
    timeoutMs: 30_000,
    /** Entries in the list of files to edit; files once globs are expanded. */
    entries: 1_000,
    /** Globs that a replacement excludes. */
    excludes: 100,
    files: 1_000,
    /** Size of one edited file, before and after. */
    fileBytes: 64 * MiB,
    fileTimeoutMs: 5_000,
    replaceTimeoutMs: 60_000,
    /** Text about one file that could not be edited. */
    errorChars: 16 * KiB,
    /** Delay of an agent that has yet to notice the timeout. */
    overrunMs: 10_000,
  },
} as const;
