/** What a finished command looks like to callers. */
import { z } from 'zod';
import type { ExecResult } from '../../control/ports.ts';

export const execOutput = z.looseObject({
  output: z.string(),
  stdout: z.string(),
  stderr: z.string(),
  exit_code: z.int(),
  timed_out: z.boolean(),
  truncated: z.boolean(),
  duration_ms: z.number().meta({ unlisted: true }),
});

export type ExecView = z.output<typeof execOutput>;

export function toExecView(result: ExecResult): ExecView {
  return {
    output: result.output,
    stdout: result.stdout,
    stderr: result.stderr,
    exit_code: result.exitCode,
    timed_out: result.timedOut,
    truncated: result.truncated,
    duration_ms: result.durationMs,
  };
}

/** What it printed, and how it ended where that is not plain success. */
export function execText({ output, exit_code, timed_out }: ExecView): string {
  if (exit_code === 0) return output === '' ? '(no output)' : output;
  const gap = output === '' || output.endsWith('\n') ? '' : '\n';
  return `${output}${gap}[${timed_out ? 'timed out, ' : ''}exit code ${exit_code}]`;
}
