/** Bounds of terminals: those of the agent, which holds them, and those of the WebSockets of their viewers. */
import { KiB } from '../units.ts';

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
