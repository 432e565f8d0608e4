/** Port to run helper programs of the host (skopeo, sandhaven-unpack, cp, du, rm, sync). */
export interface Helpers {
  /**
   * Runs a program to its end, ends its whole process group with it, and resolves to its standard output. Rejects
   * when the signal is aborted, after the timeout, and on an exit status other than 0; then the error has `exitCode`
   * (null when a signal ended it) and `stderr`.
   */
  run(program: string, args: string[], options: HelperOptions): Promise<string>;
}

export interface HelperOptions {
  timeoutMs: number;
  signal?: AbortSignal;
  /** Env vars beside those of every helper. */
  env?: Record<string, string>;
  /** Receives each line of standard output as it arrives. */
  onLine?: (line: string) => void;
}

/** Returns the exit of a helper that failed by itself; null when it was canceled or timed out. */
export function failureOf(error: unknown): { exitCode: number; stderr: string } | null {
  if (!(error instanceof Error && 'exitCode' in error && 'stderr' in error)) return null;
  const { exitCode, stderr } = error;
  return typeof exitCode === 'number' && typeof stderr === 'string' ? { exitCode, stderr } : null;
}
