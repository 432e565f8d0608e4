/**
 * Milliseconds that this thread has worked so far. They tell what work costs, which a clock does not on a machine that
 * has other things to do.
 */
export function processorMs(): number {
  const { user, system } = process.threadCpuUsage();
  return (user + system) / 1_000;
}

/** What the work cost. */
export function processorMsOf(work: () => unknown): number {
  const begun = processorMs();
  work();
  return processorMs() - begun;
}
