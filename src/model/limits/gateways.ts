/** Bounds of the preview and SSH gateways. */
import { KiB, MiB } from './units.ts';

export const gatewaysLimits = {
  preview: {
    /** Ten years at most, as of sandboxes. */
    expiresInSeconds: { min: 1, max: 315_360_000, default: 3_600 },
    /** Of visitors, all together. */
    connections: 2_048,
    /** Those of them without a request in progress. When these are full, an address with few replaces one of most. */
    idleConnections: 1_024,
    /** Requests in progress, of all sandboxes and of one owner's. */
    requests: 1_536,
    requestsPerOwner: 512,
    /** Requests that a visitor sends on one connection without waiting for the answer. */
    pipelined: 16,
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

  ssh: {
    /** 0 never expires. Ten years: beyond it a deadline means nothing. */
    expiresInMinutes: { min: 0, max: 5_256_000, default: 60 },
    /** Connections in all; then those of one sandbox. */
    connections: 256,
    connectionsPerOwner: 64,
    connectionsPerSandbox: 24,
    /** Not yet logged in: in all, and from one network of addresses. When it is full, one of them makes room. */
    strangers: 64,
    strangersPerNetwork: 32,
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
    /** Of the name of a host to connect to from the sandbox. */
    hostChars: 255,
    /** Connections to one sandbox's agent, of the 512 that it serves at once. */
    agentChannelsPerSandbox: 160,
    /** From hanging up on a program until it is killed with all that it started. */
    hangUpGraceMs: 2_000,
    /** How long a client that is sent away may take to see why. */
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
} as const;
