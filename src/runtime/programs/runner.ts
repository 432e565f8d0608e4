/** Runs a program to its end: this process itself (`direct.ts`), or the spawner for it (`spawner.ts`). */

export interface ProgramOptions {
  env: NodeJS.ProcessEnv;
  /** Its standard input; empty without. */
  input?: string | undefined;
  /** Every piece as it comes. Whoever keeps them bounds what is kept. */
  onStdout(piece: Buffer): void;
  onStderr(piece: Buffer): void;
}

/** Exactly one of the two is there. */
export interface ProgramEnd {
  code: number | null;
  signal: NodeJS.Signals | null;
}

export interface RunningProgram {
  /**
   * Resolves when the program has ended and all that it said was given out. Rejects with the system's error (`code` is
   * EMFILE, ENOENT, EACCES, EAGAIN …) when it cannot be started.
   */
  ended: Promise<ProgramEnd>;
  /** Ends the program and all that is in its process group; nothing when it is over. */
  kill(): void;
}

export interface Runner {
  /** @param file An absolute path, or a name that is looked for in the PATH of `env`. */
  run(file: string, args: string[], options: ProgramOptions): RunningProgram;
}
