/** Runs other programs of the host (skopeo, sandhaven-unpack, cp, du, rm, sync). */
export interface Helpers {
  /**
   * Runs to the end, its whole process group ended with it, and resolves with its standard output. Rejects when
   * the signal is aborted, when the time is up, and when it ends with another status than 0; then the error has
   * `exitCode` (null when it was ended) and `stderr`.
   */
  run(program: string, args: string[], options: HelperOptions): Promise<string>;
}

export interface HelperOptions {
  timeoutMs: number;
  signal?: AbortSignal;
  /** Beside what every helper gets. */
  env?: Record<string, string>;
  /** Told each line of standard output as it comes. */
  onLine?: (line: string) => void;
}

/** End of a helper that failed by itself; null when it was canceled or out of time. */
export function failureOf(error: unknown): { exitCode: number; stderr: string } | null {
  if (!(error instanceof Error && 'exitCode' in error && 'stderr' in error)) return null;
  const { exitCode, stderr } = error;
  return typeof exitCode === 'number' && typeof stderr === 'string' ? { exitCode, stderr } : null;
}
