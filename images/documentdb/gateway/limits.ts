/** Every bound of the gateway. Times end in Ms, sizes in Bytes. */
export const limits = {
  connections: 300,
  /** Size of one message, as announced in the protocol's hello. */
  messageBytes: 48_000_000,
  /** Size of one message before the client's login. */
  unknownMessageBytes: 64 * 1024,
  documentBytes: 16 * 1024 * 1024,
  /** Nesting of documents and lists. */
  depth: 200,
  /** Sequences of documents in one message. */
  sections: 16,
  /** The extension accepts no more. */
  writesPerCommand: 25_000,
  /** Bytes read ahead while a client's command is running; then its socket is paused. */
  aheadBytes: 64 * 1024,
  /** Backends of PostgreSQL, for each role. */
  backends: 40,
  backendWaitMs: 5_000,
  backendIdleMs: 60_000,
  /** Open cursors of all clients together. */
  cursors: 1_000,
  /** Those of them that own a backend. */
  heldBackends: 25,
  cursorIdleMs: 10 * 60_000,
  /** For a cursor whose connection ended: its client may continue it on another. */
  orphanIdleMs: 5_000,
  cursorSweepMs: 1_000,
  /** Size of a user name and of a client's authentication message. */
  saslBytes: 4 * 1024,
  /** Grace period of a stop for running commands. */
  stopMs: 5_000,
  keepAliveMs: 60_000,
  tlsHandshakeMs: 10_000,
} as const;
