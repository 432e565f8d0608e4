/** Bounds of machines and of work inside them. */
import { KiB, MiB } from './units.ts';

/** Bounds of the agent's work beside commands and files; the agent has ceilings of its own. */
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

/** Bounds of the readiness check behind `/readyz`. */
export const readinessLimits = {
  readiness: {
    /** Time after a machine's start in which no trial runs. */
    freshMs: 60_000,
    /** Time for which a failure is repeated before the next trial. */
    failureKeptMs: 5_000,
    /** Time between the start of a trial machine and its agent's answer. */
    trialTimeoutMs: 15_000,
  },
} as const;

/** Bounds of terminals: those of the agent, which holds them, and those of the WebSockets of their viewers. */
export const terminalsLimits = {
  terminal: {
    idChars: 64,
    /** Terminals of one sandbox; the agent's own bound. */
    perSandbox: 32,
    /** Viewers of one sandbox's terminals; the agent's own bound. */
    viewersPerSandbox: 64,
    columns: { min: 1, max: 4_096, default: 80 },
    rows: { min: 1, max: 4_096, default: 24 },
    /** Name of a program, as the kernel keeps it. */
    programChars: 64,
    /** Timeout of a shell's start. */
    startMs: 20_000,
    /** Timeout of hanging up on a terminal; the agent kills what stays after two seconds. */
    endMs: 10_000,
    /** Open WebSockets: of one user, and of all. */
    viewers: { perOwner: 64, total: 1_024 },
    /** One message of a client; a longer paste comes in several. */
    messageBytes: 256 * KiB,
    /** One control message of a client. */
    controlBytes: 4 * KiB,
    /** Bytes that wait for a client; beyond, the agent waits, and then leaves out what is not the newest. */
    unsentBytes: 256 * KiB,
    /** Bytes that a client may take before it reports to have shown some. */
    windowBytes: { min: 16 * KiB, max: 1_024 * KiB },
    /** Interval of pings; a client that is silent from one to the next counts as gone. */
    pingMs: 20_000,
    /** Time for a client to read the rest and answer the end of its WebSocket. */
    farewellMs: 5_000,
    /** Timeout of the command line's handshake; the shell's start is part of it. */
    handshakeMs: 60_000,
    /** Keys that detach the command line, at most. */
    detachKeys: 8,
  },
} as const;

/** Bounds of processes that outlive their caller; those of one sandbox are the agent's own. */
export const detachedLimits = {
  detached: {
    /** Of one sandbox: those that run, and ended ones that are kept. */
    running: 128,
    ended: 128,
    viewersPerSandbox: 256,
    tagChars: 64,
    /** Beginning of the command that lists show. */
    labelChars: 200,
    timeoutSeconds: { min: 1, max: 86_400, default: 86_400 },
    /** Position in the output, in bytes; beyond it sums may be inexact. */
    position: { min: 0, max: 2 ** 52 },
    /** Input of one call, and the time for the program to read it. */
    inputBytes: 1 * MiB,
    inputMs: 60_000,
    /** Open streams of output: of one user, and of all. */
    viewers: { perOwner: 256, total: 1_024 },
  },
} as const;

/** Bounds of watches of files; those of one sandbox are the agent's own. */
export const watchingLimits = {
  watching: {
    /** Of one item of the agent's, which stays below both. */
    itemBytes: 128 * KiB,
    itemChanges: 4_000,
    /** Time to watch all folders that there are. */
    startMs: 60_000,
    /** Open streams: of one user, and of all. */
    streams: { perOwner: 256, total: 1_024 },
  },
} as const;

/** Bounds of figures about sandboxes that somebody looks at. */
export const usageLimits = {
  usage: {
    /** Pause between two turns of samples. */
    intervalMs: 5_000,
    /** Pause before the turn that a new viewer begins. */
    joinMs: 1_000,
    /** Sandboxes in one turn: of one owner, and of all. On a host a sample is three small reads. */
    host: { perOwner: 200, total: 1_000, atOnce: 8 },
    /** By an agent on a network a sample is three requests. */
    cluster: { perOwner: 32, total: 128, atOnce: 4 },
    /** Owners in one turn whose sandboxes are measured side by side; they divide `atOnce`. */
    ownersAtOnce: 4,
    /** One sample by an agent: its longest wait, and bytes of one file. */
    insideMs: 2_000,
    insideBytes: 8 * KiB,
    /** History: an hour of samples of one sandbox, 7 KiB; sandboxes of one owner, and of all; kills that are named of each. */
    history: { stepMs: 10_000, samples: 360, perOwner: 500, total: 2_000, events: 20 },
  },
} as const;

/** Bounds of the warm pool, and the time scale on which it follows demand. */
export const warmPoolLimits = {
  warmPool: {
    /** The largest size that an operator can choose. */
    max: 100,
    /** Sandboxes that are made side by side: on this machine, which serves callers meanwhile, and on a cluster's nodes. */
    madeAtOnce: { host: 2, cluster: 8 },
    /** Time without a claim before a refill: it leaves the machine to a burst of claims. */
    refillDelayMs: 250,
    /** The longest wait for a refill, from the first claim on: under steady demand there is no such time. */
    postponedMs: 1_000,
    /** Pause after a refill that failed; claims do not shorten it. */
    retryMs: 10_000,
    /** Demand is counted in steps of this length. */
    stepMs: 5_000,
    /** Age at which demand is forgotten. */
    rememberedMs: 10 * 60_000,
    /** Time between the removals of two sandboxes that the pool does not need any more. */
    shrinkMs: 15_000,
    /** Latest makings, of which the longest counts as the time to make one. */
    makingsRemembered: 8,
    /** Demand here is collected for so long before the other replicas hear of it. */
    newsMs: 100,
    /** The most that one message of another replica counts for. */
    wantedPerNews: 10_000,
  },
} as const;

/** Bounds of contexts; the agent has the same where both name one (`native/agent/src/contexts`). */
export const contextLimits = {
  context: {
    idChars: 64,
    perSandbox: 64,
    /** Seconds until the code of a run is interrupted. */
    timeoutSeconds: { min: 1, max: 600, default: 60 },
    /** Memory of each process of a context. */
    memoryMb: { min: 64, max: 1_048_576 },
    /** Timeout of an interpreter's start. */
    startMs: 30_000,
    /** Displays of one run. */
    displays: 100,
    displayDepth: 32,
    /** Texts of an error, and of a type of data. */
    errorNameChars: 1_024,
    errorTextChars: 1_024 * KiB,
    endChars: 1_024,
    mimeChars: 200,
  },
} as const;
