/** View of a finished command for callers. */
import { z } from 'zod';
import type { ExecResult } from '../../control/ports/index.ts';
import { asPrinted, printedText } from '../printed.ts';

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

/** Adds the exit status where it is not plain success. */
export function execPrinted({ output, exit_code, timed_out }: ExecView): string {
  return asPrinted(
    output,
    exit_code === 0 ? null : `${timed_out ? 'timed out, ' : ''}exit code ${exit_code}`,
  );
}

/** @param more Lines about its other results. */
export function execText(view: ExecView, more: readonly string[] = []): string {
  const { exit_code, timed_out, truncated, duration_ms } = view;
  const stand = [
    `exit code ${exit_code}`,
    `${Math.round(duration_ms)} ms`,
    ...(timed_out ? ['timed out'] : []),
    ...(truncated ? ['truncated: the middle of a stream is left out'] : []),
  ];
  return printedText(view, stand, more);
}
