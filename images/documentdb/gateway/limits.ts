/** Every bound of the gateway. Times end in Ms, sizes in Bytes. */
export const limits = {
  connections: 300,
  /** Of one message; what the protocol's hello says. */
  messageBytes: 48_000_000,
  /** Of one message before the client has shown who it is. */
  unknownMessageBytes: 64 * 1024,
  documentBytes: 16 * 1024 * 1024,
  /** Of documents and lists in each other. */
  depth: 200,
  /** Sequences of documents in one message. */
  sections: 16,
  /** The extension takes no more. */
  writesPerCommand: 25_000,
  /** Sent ahead by a client whose command is still running; then its socket is read no further. */
  aheadBytes: 64 * 1024,
  /** Backends of PostgreSQL, for each role. */
  backends: 40,
  backendWaitMs: 5_000,
  backendIdleMs: 60_000,
  /** Cursors that are open, of all clients together. */
  cursors: 1_000,
  /** Of them, those that keep a backend for themselves. */
  heldBackends: 25,
  cursorIdleMs: 10 * 60_000,
  /** For a cursor whose connection went: its client may go on with it on another. */
  orphanIdleMs: 5_000,
  cursorSweepMs: 1_000,
  /** Of a user name and of what a client says to authenticate. */
  saslBytes: 4 * 1024,
  /** How long a stop waits for running commands. */
  stopMs: 5_000,
  keepAliveMs: 60_000,
  tlsHandshakeMs: 10_000,
} as const;
