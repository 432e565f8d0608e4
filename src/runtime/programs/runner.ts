/** Interface of a runner of programs: this process itself (`direct.ts`), or the spawner for it (`spawner.ts`). */

export interface ProgramOptions {
  env: NodeJS.ProcessEnv;
  /** Standard input; empty by default. */
  input?: string | undefined;
  /** Receives every piece as it arrives. A caller that keeps pieces bounds them. */
  onStdout(piece: Buffer): void;
  onStderr(piece: Buffer): void;
}

/** End of a program: exactly one of the two is not null. */
export interface ProgramEnd {
  code: number | null;
  signal: NodeJS.Signals | null;
}

export interface RunningProgram {
  /**
   * Resolves when the program has ended and all its output was passed on. Rejects with the system's error (`code` is
   * EMFILE, ENOENT, EACCES, EAGAIN …) when it cannot be started.
   */
  ended: Promise<ProgramEnd>;
  /** Kills the program and its whole process group; does nothing after its end. */
  kill(): void;
}

export interface Runner {
  /** @param file Absolute path, or a name to search in the PATH of `env`. */
  run(file: string, args: string[], options: ProgramOptions): RunningProgram;
  /**
   * Applies one batch of netfilter's messages, each of which asks for an answer. Rejects with the system's error when the
   * kernel refuses one; nothing of the batch is in force then. Absent where only programs can do it.
   */
  netfilter?(batch: Buffer): Promise<void>;
}
