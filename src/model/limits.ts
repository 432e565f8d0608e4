/** Every bound of the service, with its unit. Nothing elsewhere holds a number that limits a caller. */

const KiB = 1024;
const MiB = 1024 * KiB;
export const GiB = 1024 * MiB;

export const limits = {
  cpu: { min: 1, max: 16, default: 2 },
  memoryGb: { min: 1, max: 64, default: 4 },
  diskGb: { min: 1, max: 200, default: 20 },
  gpu: { min: 0, max: 8, default: 0 },

  autoStopMinutes: { min: 0, default: 15 },
  /** 0 means `max`. */
  autoArchiveMinutes: { min: 0, max: 43_200, default: 10_080 },
  /** −1 switches it off, 0 deletes at the stop. */
  autoDeleteMinutes: { min: -1, default: -1 },
  /** Ten years: beyond it a deadline means nothing, and sums of minutes stay exact. */
  autoMinutesMax: 5_256_000,

  pageSize: { min: 1, max: 100, default: 20 },
  maxItems: { min: 1, max: 200, default: 50 },
  /** Largest page number and offset: products with a page size stay exact. */
  listPosition: 2_147_483_647,

  runCodeTimeoutSeconds: { min: 1, max: 300, default: 30 },
  runCommandTimeoutSeconds: { min: 1, max: 600, default: 60 },

  sandboxNameChars: 63,
  /** The name of an image or a snapshot. */
  imageReferenceChars: 512,
  labels: 64,
  labelKeyChars: 128,
  labelValueChars: 512,
  envVars: 256,
  envKeyChars: 256,
  envValueBytes: 64 * KiB,
  /** All of them together: they travel with every command, and Linux bounds arguments and environment. */
  envTotalBytes: 256 * KiB,
  pathBytes: 4_095,
  globChars: 1_024,
  idempotencyKeyChars: 255,
  /** How long the answer of an idempotent call is kept. */
  idempotencyKeptMs: 24 * 60 * 60 * 1000,

  jsonBodyBytes: 24 * MiB,
  /** A command travels as one argument of bash -c; Linux bounds one argument at 128 KiB. */
  commandBytes: 127 * KiB,
  /** Source code of one RunCode call. */
  codeBytes: 4 * MiB,
  /** A file's content in a result, before base64. */
  fileContentBytes: 16 * MiB,
  /** Per stream of a command; past it the first and the last half are kept. */
  outputBytes: MiB,
  charts: 20,
  chartBytes: 8 * MiB,
  /** Of all charts of a run together. */
  chartsTotalBytes: 32 * MiB,
  /** What is known of one chart beside its picture, as JSON. */
  chartDataBytes: 512 * KiB,
  /** Largest control frame of the agent protocol, either way. */
  agentFrameBytes: 4 * MiB,
  /** Largest data frame of the agent protocol, either way. */
  agentDataFrameBytes: 1 * MiB,

  /** Of each kind, that have not expired. */
  accessTokensPerSandbox: 256,

  /** Operations of one sandbox waiting for their turn. */
  queuedOperations: 64,
  /** Tool calls working in one sandbox at once. */
  concurrentUses: 64,
  /** Requests and connections through gateways into one sandbox at once; below what its agent relays. */
  concurrentConnections: 256,
  concurrentRequests: 512,
  connections: 4_096,
  /** JSON bodies that are arriving, all together. */
  arrivingBodyBytes: 256 * MiB,
  requestHeadersMs: 10_000,
  /** How often connections are looked at for headers that are late. */
  connectionCheckMs: 2_000,
  /** A JSON body must be there by then. */
  jsonBodyMs: 120_000,
  /** Silence after which an upload or a download counts as dead. */
  byteStreamIdleMs: 120_000,
  /** How long what a refused client still sends is read, so that it sees the refusal. */
  lingerMs: 5_000,
  /** How long calls in progress may take on when the service is told to stop. */
  closeGraceMs: 5_000,
  eventStreamHeartbeatMs: 15_000,

  /** Of the text beside an MCP result's structured content. */
  mcpTextChars: 16 * KiB,
  /** A call that reports no progress for so long sends a sign of life. */
  mcpHeartbeatMs: 10_000,
  /** Open streams of MCP clients that wait for news of the service. */
  mcpSubscriptions: 64,

  network: {
    /** Machine-wide: host user ids stay below 2^31, addresses inside 10.213.0.0/16. */
    slots: 16_384,
    /** Slots made at once, when the pool is filled. */
    slotBatch: 16,
    /** Per sandbox: connections to the outside open at a time, new ones a second, and how many at once. */
    connections: 512,
    newConnectionsPerSecond: 200,
    newConnectionBurst: 400,
    /** DNS: queries of one sandbox a second and at once, then those waiting for an answer. */
    dnsQueriesPerSecond: 200,
    dnsQueryBurst: 400,
    dnsQueriesInFlightPerSandbox: 64,
    dnsQueriesInFlight: 1_024,
    dnsConnectionsPerSandbox: 8,
    dnsConnections: 256,
    dnsIdleMs: 10_000,
    /** Until the next upstream is asked, and for one query altogether. */
    dnsUpstreamTimeoutMs: 2_000,
    dnsTimeoutMs: 5_000,
    dnsQueryBytes: 1_024,
    dnsUdpBytes: 1_232,
  },

  git: {
    /** A call that works inside alone, and one that talks to a remote. */
    localMs: 60_000,
    networkMs: 600_000,
    /** Of what one git command prints; the agent takes no more than 8 MiB. */
    outputBytes: 4 * MiB,
    /** Of its complaints, when they are passed on. */
    complaintChars: 600,
    urlChars: 2_048,
    refBytes: 244,
    /** Paths in one list of a result. */
    paths: 20_000,
    /** Files that an error names. */
    namedFiles: 20,
    branches: 5_000,
    /** Paths of one GitAdd. */
    files: 1_000,
    /** Paths, in bytes, that travel as arguments; more go by a file. */
    argumentBytes: 64 * KiB,
    messageBytes: MiB,
    identityChars: 256,
    log: { min: 1, max: 1_000, default: 20 },
    usernameChars: 256,
    passwordChars: 8_192,
    /** Kept for one sandbox. */
    credentials: 64,
    /** Connections that the gateway takes from one git at a time. */
    gatewayConnections: 16,
    /** Until the remote has taken the connection; then how long it may be silent. */
    connectMs: 15_000,
    idleMs: 120_000,
    redirects: 3,
    /** Entries of --git-allow. */
    allowedRemotes: 256,
  },

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

  tunnel: {
    /** For the agent to have a connection open, or to listen. */
    openMs: 15_000,
    /** Held for each direction of a connection before the other side has to wait. */
    bufferBytes: 256 * KiB,
    /** Connections that a listener's agent has named and that are being taken. */
    connectionsTaken: 64,
  },

  preview: {
    /** Ten years at most, as of sandboxes. */
    expiresInSeconds: { min: 1, max: 315_360_000, default: 3_600 },
    /** Of visitors, all together. */
    connections: 2_048,
    /** How long a visitor's connection waits for its next request. */
    visitorIdleMs: 60_000,
    /** All headers of a request, and of an answer. */
    requestHeaderBytes: 32 * KiB,
    answerHeaderBytes: 64 * KiB,
    /** Connections to applications that wait for their next request: to one port, and all together. */
    idlePerPort: 8,
    idle: 256,
    /** Below what servers usually wait themselves. */
    idleMs: 4_000,
  },

  image: {
    /** Longest name, tag and digest that the registries' grammar allows, with their separators. */
    referenceChars: 456,
    layers: 256,
    /** As the registry stores it, then as files on disk, and how many files and folders. */
    compressedBytes: 8 * GiB,
    unpackedBytes: 24 * GiB,
    entries: 2_000_000,
    configBytes: MiB,
    /** Images pulled at once; others wait. */
    concurrentPulls: 3,
    /** One question to a registry; then a whole pull, with unpacking. */
    registryTimeoutMs: 60_000,
    pullTimeoutMs: 30 * 60_000,
    /** How often growth is measured and reported. */
    measureIntervalMs: 500,
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
    /** Typed at once. */
    inputBytes: 64 * KiB,
    /** For a program to read its input, and for a shell to come up; the agent's own patience is shorter. */
    inputMs: 15_000,
    startMs: 20_000,
    /** For an agent to say whether commands run, before its sandbox is stopped for being idle. */
    busyMs: 2_000,
  },

  ssh: {
    /** 0 never expires. Ten years: beyond it a deadline means nothing. */
    expiresInMinutes: { min: 0, max: 5_256_000, default: 60 },
    /** Connections in all; then those of one sandbox, which share its uses with the tool calls. */
    connections: 256,
    connectionsPerSandbox: 24,
    /** Not yet logged in: in all, and from one address. */
    strangers: 64,
    strangersPerAddress: 32,
    /** From the connection's beginning until it is logged in. */
    loginMs: 30_000,
    /** Wrong tokens on one connection, then requests of any kind before the login. */
    wrongTokens: 6,
    loginRequests: 20,
    /** The answer to a wrong token waits for so long; twice as long for each one more of that address. */
    wrongTokenDelayMs: 200,
    wrongTokenDelayMaxMs: 4_000,
    wrongTokenForgottenMs: 60_000,
    /** Addresses that wrong tokens are remembered of. */
    addressesRemembered: 1_024,
    /** A client that has been silent for as many times this long is gone. */
    keepaliveMs: 15_000,
    keepalives: 3,
    channelsPerConnection: 64,
    listenersPerConnection: 16,
    /** Connections to one sandbox's agent, of the 160 that it serves at once. */
    agentChannelsPerSandbox: 112,
    /** From hanging up on a program until it is killed with all that it started. */
    hangUpGraceMs: 2_000,
    /** How long a closed connection's last words may take to be sent. */
    farewellMs: 2_000,
    /** How long what a client sent before it went away may take to reach a port. */
    lastBytesMs: 10_000,
    /** Variables that a client sets for one program, and the bytes of one value. */
    variables: 64,
    variableBytes: 4 * KiB,
    /** Of a terminal: columns and rows. */
    terminalCells: 4_096,
    terminalNameChars: 64,
    /** On its way between the service's main thread and the gateway's, each channel and direction. */
    threadWindowBytes: MiB,
    /** Of the gateway's own heap; bytes on their way are outside of it. */
    heapMb: 128,
    youngHeapMb: 4,
    /** The gateway's thread ends when nobody has been connected for so long. */
    threadIdleMs: 120_000,
  },

  stopGraceMs: 2_000,
  helloTimeoutMs: 10_000,
  search: {
    /** Of a query, a pattern, and a replacement. */
    queryChars: 4_096,
    replacementChars: 64 * KiB,
    contextLines: { min: 0, max: 5, default: 0 },
    /** Given of one file. */
    matchesPerFile: 50,
    /** Of a line that is shown, in UTF-16 units, the marks where it is cut included. */
    shownLineUnits: 802,
    /** For one search; the agent's own answer is waited for a little longer. */
    timeoutMs: 30_000,
    /** Entries in the list of files to edit, then files once globs are expanded. */
    entries: 1_000,
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

  /** For a file operation whose length depends on what is in the sandbox. */
  fileOperationMs: 300_000,
  /** How long an agent may neither send nor take a byte of a stream that the other side waits for. */
  streamIdleMs: 60_000,
  /** How long after its deadline a command may take to be reported before the agent counts as lost. */
  execOverrunMs: 10_000,
  /** Processes and threads of one machine. */
  processes: 1_024,
  ptys: 256,
  openFiles: { soft: 16_384, hard: 65_536 },
  /** All machines together stay below the host's memory less this. */
  hostReserveMemoryBytes: GiB,
  /** Nothing new is started with less free disk than this. */
  hostReserveDiskBytes: 4 * GiB,
  /**
   * Below it all machines are frozen; they go on at twice as much. What they have written and the kernel has yet to
   * place must still fit.
   */
  hostCriticalDiskBytes: 2 * GiB,
  diskGuardIntervalMs: 2_000,
  /** Bytes of disk for each inode of a machine's file system. */
  diskBytesPerInode: 16 * KiB,
  diskJournalMb: 32,
  /** Ready disks of the default size, made ahead of need. */
  diskPool: 4,
  /** Machines being launched at once, for each core of the host. */
  launchesPerCore: 2,
  launchTimeoutMs: 30_000,
  /** From SIGKILL until nothing of a machine is left, its disk included. */
  teardownTimeoutMs: 15_000,
  /** Making, checking or growing a file system. */
  diskHelperTimeoutMs: 10 * 60_000,
  /** Writing, verifying or unpacking one archive. */
  archiveHelperTimeoutMs: 60 * 60_000,
  /** Of what a helper program writes to either stream. */
  helperOutputBytes: 64 * KiB,
  /** How long a connection to an agent is tried again while its queue is full or its machine is starting. */
  agentConnectTimeoutMs: 5_000,
} as const;
