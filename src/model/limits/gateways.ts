/** Bounds of the preview and SSH gateways. */
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
    /** One file at an address of its own: life of the address, and files on their way to visitors. */
    files: { seconds: 300, requests: { total: 64, perOwner: 16 } },
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
