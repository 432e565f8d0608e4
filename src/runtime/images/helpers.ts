/** What is needed of the host to run other programs (skopeo, umoci, cp, du, find, rm, sync). */
export interface Helpers {
  /**
   * Runs to the end, its whole process group ended with it, and resolves with its standard output. Rejects when
   * the signal is aborted, when the time is up, and when it ends with another status than 0; then the error has
   * `exitCode` (null when it was ended) and `stderr`.
   */
  run(program: string, args: string[], options: { timeoutMs: number; signal?: AbortSignal }): Promise<string>;
}

/** What a helper said before it failed; null when it did not fail by itself (canceled, out of time). */
export function stderrOf(error: unknown): string | null {
  if (!(error instanceof Error && 'exitCode' in error && 'stderr' in error)) return null;
  return typeof error.exitCode === 'number' && typeof error.stderr === 'string' ? error.stderr : null;
}
