/** Interface of a runner of programs: this process itself (`run-program.ts`), or the spawner for it (`spawner.ts`). */

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
   * Sends netfilter's messages, a batch of changes or one question, of which the last asks for an answer; resolves to the messages
   * that the kernel answers. Rejects with the system's error when it refuses one; nothing of a batch is in force then. Absent where
   * only programs can do it.
   */
  netfilter?(messages: Buffer): Promise<Buffer>;
}
