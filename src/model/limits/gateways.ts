/** Bounds of listeners, gateways, Git and what follows events. */
import { KiB, MiB } from './units.ts';

export const gatewaysLimits = {
  preview: {
    /** Ten years at most, as for sandboxes. */
    expiresInSeconds: { min: 1, max: 315_360_000, default: 3_600 },
    /** Connections of all visitors. */
    connections: 2_048,
    /**
     * Those of them without a request in progress. At this bound, an address with few replaces one of the address with
     * most.
     */
    idleConnections: 1_024,
    /** Requests in progress, of all sandboxes and of one owner's. */
    requests: 1_536,
    requestsPerOwner: 512,
    /** Those without a token, to ports that are open to everybody, of all networks and of one; ports that a sandbox opens by number. */
    publicRequests: { total: 768, perOwner: 64 },
    publicPorts: 64,
    /** One file at an address of its own: life of the address, and files on their way to visitors. */
    files: { seconds: 300, requests: { total: 64, perOwner: 16 } },
    /** Longest life of a signed address of a file. */
    signedFileSeconds: 7 * 24 * 60 * 60,
    /** Requests that a visitor sends on one connection without waiting for the answer. */
    pipelined: 16,
    /** Idle time of a visitor's connection before its next request. */
    visitorIdleMs: 60_000,
    /** All headers of a request, and of an answer. */
    requestHeaderBytes: 32 * KiB,
    answerHeaderBytes: 64 * KiB,
    /** Idle connections to applications: to one port, and in total. */
    idlePerPort: 8,
    idle: 256,
    /** Below the usual idle timeout of servers. */
    idleMs: 4_000,
  },

  ssh: {
    /** 0 never expires. Ten years: beyond it a deadline means nothing. */
    expiresInMinutes: { min: 0, max: 5_256_000, default: 60 },
    /** Connections in total, of one owner, and of one sandbox. */
    connections: 256,
    connectionsPerOwner: 64,
    connectionsPerSandbox: 24,
    /** Connections before login: in total, and from one network of addresses. At the bound, one of them makes room. */
    strangers: 64,
    strangersPerNetwork: 32,
    /** Time between the connection's beginning and the login. */
    loginMs: 30_000,
    /** Wrong tokens on one connection; requests of any kind before the login. */
    wrongTokens: 6,
    loginRequests: 20,
    /** Delay of the answer to a wrong token; doubles with each further one of that address. */
    wrongTokenDelayMs: 200,
    wrongTokenDelayMaxMs: 4_000,
    wrongTokenForgottenMs: 60_000,
    /** Addresses whose wrong tokens are remembered. */
    addressesRemembered: 1_024,
    /** Interval and number of keepalives before a silent client counts as gone. */
    keepaliveMs: 15_000,
    keepalives: 3,
    channelsPerConnection: 64,
    listenersPerConnection: 16,
    /** Name of a host to connect to from the sandbox. */
    hostChars: 255,
    /** Connections to one sandbox's agent, of the 512 that it serves at once. */
    agentChannelsPerSandbox: 160,
    /** Time between hanging up on a program and killing it with all its children. */
    hangUpGraceMs: 2_000,
    /** Time for a rejected client to read the reason. */
    farewellMs: 2_000,
    /** Time for a client's last bytes to reach a port after it has disconnected. */
    lastBytesMs: 10_000,
    /** Variables that a client sets for one program, and the bytes of one value. */
    variables: 64,
    variableBytes: 4 * KiB,
    /** Time that a sandbox has to name the locales it lacks; then the client's stay. */
    localesMs: 2_000,
    /** Columns and rows of a terminal. */
    terminalCells: 4_096,
    terminalNameChars: 64,
    /** Bytes in flight between the service's main thread and the gateway's, for each channel and direction. */
    threadWindowBytes: MiB,
    /** Heap of the gateway; bytes in flight are outside of it. */
    heapMb: 128,
    youngHeapMb: 4,
    /** Idle time without any connection after which the gateway's thread ends. */
    threadIdleMs: 120_000,
  },
} as const;

/** Bounds of the listeners' outer side: certificates, proxies before them, and names. */
export const listenersLimits = {
  /**
   * New connections that the kernel keeps for a listener; Linux allows 4,096 by default. A storm of strangers fills
   * 511, Node's default, and whoever connects then waits for the kernel's retries, which take seconds.
   */
  listenBacklog: 4_096,
  tls: {
    /** Certificate file with its whole chain, or key file. */
    fileBytes: 256 * KiB,
    /** Interval of checking both; new ones are read once two checks agree. */
    watchMs: 2_000,
    /** Timeout of a connection's first byte, and of its handshake. */
    firstByteMs: 5_000,
    handshakeMs: 5_000,
    /** Days before the expiry from which `doctor` warns. */
    expiresSoonDays: 14,
  },
  proxies: {
    /** Networks that `--trusted-proxy` names. */
    networks: 64,
    /** Proxies in a row that a request is followed back through. */
    chain: 16,
  },
  events: {
    /** Open event streams: of one user, and of all. */
    streams: { perOwner: 16, total: 512 },
    /** Time in which changes of one sandbox become one event. */
    gatherMs: 100,
    /** Sandboxes of an owner that a stream knows; the deletion of one beyond shows at the next list. */
    known: 10_000,
    /** Rows of the audit log in one event; beyond, its followers list again. The pause before the next event. */
    auditRows: 50,
    auditPauseMs: 500,
    /** Pause between two messages about how far one snapshot is. */
    progressPauseMs: 1_000,
    /** Characters of events that wait for a slow client; beyond, it gets `refresh` in their place. */
    waitingChars: 64 * KiB,
  },
  page: {
    files: 1_000,
    bytes: 32 * MiB,
    /** Of 11: a third larger than the best, in a hundredth of the time. */
    brotliQuality: 6,
    /** Shorter answers fit in the packets that carry their headers. */
    compressedFromChars: 2_048,
  },
  /** Packages that the service gives to its users, all in memory. */
  packages: { files: 64, bytes: 32 * MiB },
  region: { count: 64, textChars: 100 },
} as const;

/** Bounds of the Git tools and of their gateway. */
export const gitLimits = {
  git: {
    /** Timeout of a call that works inside alone, and of one that contacts a remote. */
    localMs: 60_000,
    networkMs: 600_000,
    /** Output of one git command; the agent takes no more than 8 MiB. */
    outputBytes: 4 * MiB,
    /** git's message for people, in an error. */
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
    /** Bytes of paths as arguments; more go by a file. */
    argumentBytes: 64 * KiB,
    messageBytes: MiB,
    identityChars: 256,
    /** Leaves larger bounds to git: the bytes of its output bound the list. */
    log: { min: 1, max: 2_147_483_647, default: 20 },
    usernameChars: 256,
    passwordChars: 8_192,
    /** Credentials of one sandbox. */
    credentials: 64,
    /** Connections that the gateway accepts from one git at a time. */
    gatewayConnections: 16,
    /** Remotes that are talked to with credentials at a time: in all, and by one owner. */
    proxies: 256,
    proxiesPerOwner: 64,
    /** Until the remote has taken the connection; then how long it may be silent. */
    connectMs: 15_000,
    idleMs: 120_000,
    redirects: 3,
  },
} as const;

/** Bounds of the code-hosting provider: requests to it, and the time of an authorization. */
export const providerLimits = {
  provider: {
    /** One request to the provider, answer included. */
    requestMs: 15_000,
    answerBytes: 1024 * KiB,
    tokenChars: 4_096,
    /** Time between showing the URL to a user and the browser's return. */
    stateMs: 10 * 60_000,
    /** Retention of an authorization's outcome after its end. */
    outcomeMs: 10 * 60_000,
    /** Pending authorizations, of one user and in total. */
    pendingPerUser: 8,
    pending: 10_000,
    /** Lifetime of a device code, whatever the provider says. */
    deviceMs: 30 * 60_000,
    deviceIntervalMs: { min: 1_000, default: 5_000, max: 60_000 },
    /** Extra interval when the provider demands slower polling and names none. */
    slowDownMs: 5_000,
    /** Turn of one replica to poll: two requests at their timeout. A replica that is gone holds it no longer. */
    pollTurnMs: 30_000,
    /**
     * Turn of one replica to renew an authorization: the rest of a lease for work, a request at its timeout, and the write
     * of its answer. A replica that is gone holds it no longer.
     */
    renewTurnMs: 30_000,
    /** Wait for other replicas that have the turn: two of them, one after another. */
    renewWaitMs: 60_000,
    renewLookMs: 250,
    /** A token that expires within this time is renewed before use: a clone may take as long. */
    renewAheadMs: 10 * 60_000,
    /** Installation tokens in memory. */
    installationTokens: 1_000,
    formBytes: 8 * KiB,
  },
} as const;

/** Bounds of output that is shown while a program runs. Its result has bounds of its own. */
export const liveLimits = {
  live: {
    /** Of one call whose program does not wait for it, each piece counted as `pieceCostBytes` more; part of the protocol. */
    callBytes: 16 * MiB,
    pieceCostBytes: 64,
    /** One piece, and the JSON in front of it. */
    pieceBytes: 16 * KiB,
    headBytes: 96,
    /** Bytes held for a client that reads slowly; what comes meanwhile is left out, or the program waits. */
    heldBytes: 64 * KiB,
    /** Time without progress after which a reader of a call in progress is cut; longer than any command may run. */
    stalledMs: 660_000,
    /** Agents whose version of the protocol is remembered. */
    knownAgents: 4_096,
    /** Longest wait for a session command that prints without a pause, and the pause before its log is there. */
    followMs: 500,
    followRetryMs: 50,
    /** MCP: the last lines in a notification, and the time between two. */
    mcpLines: 10,
    mcpChars: 2_000,
    mcpIntervalMs: 1_000,
  },
} as const;
