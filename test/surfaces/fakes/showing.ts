/** Programs in memory that show output while they run. */
import type { LiveOutput } from '../../../src/control/ports/index.ts';
import type { Services } from '../../../src/control/services.ts';

/** What they answer in the end, beside the output. */
export interface Ending {
  exitCode: number;
  stderr: string;
}

/**
 * Replaces what runs programs: each shows what `show` does, and then ends.
 * @param stdout What the result has.
 */
export function showing(
  services: Services,
  stdout: string,
  show: (live: LiveOutput | undefined) => Promise<void>,
  { exitCode, stderr }: Ending = { exitCode: 0, stderr: '' },
): void {
  const run = async (_caller: unknown, _sandbox: unknown, { live }: { live?: LiveOutput }) => {
    await show(live);
    const output = stdout + stderr;
    const more = { timedOut: false, truncated: false, durationMs: 1, charts: [] };
    return { output, stdout, stderr, exitCode, commandId: 'cmd_1', status: 'completed', ...more };
  };
  Object.assign(services, { execution: { runCommand: run, runCode: run }, sessions: { run } });
}
