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

/** As it came, and how it ended where that is not plain success. */
export function execPrinted({ output, exit_code, timed_out }: ExecView): string {
  if (exit_code === 0) return output === '' ? '(no output)' : output;
  const gap = output === '' || output.endsWith('\n') ? '' : '\n';
  return `${output}${gap}[${timed_out ? 'timed out, ' : ''}exit code ${exit_code}]`;
}

/**
 * What it printed, and last how it ended. Where both streams have something they stand apart; where they came
 * interleaved, as they came first.
 */
export function execText(view: ExecView, more: readonly string[] = []): string {
  return [...printed(view), ...more, `[${endOf(view).join(', ')}]`].join('\n');
}

function printed({ output, stdout, stderr }: ExecView): string[] {
  if (output === '') return ['(no output)'];
  if (stdout === '' || stderr === '') return lines(output);
  const apart = ['stdout:', ...lines(stdout), 'stderr:', ...lines(stderr)];
  const ordered = output === stdout + stderr || output === stderr + stdout;
  return ordered ? apart : ['as it came:', ...lines(output), ...apart];
}

/** Without the newline that ends the last line; one that is missing is told. */
function lines(text: string): string[] {
  return text.endsWith('\n') ? [text.slice(0, -1)] : [text, '[no newline at the end]'];
}

function endOf({ stdout, stderr, exit_code, timed_out, truncated, duration_ms }: ExecView): string[] {
  return [
    `exit code ${exit_code}`,
    `${Math.round(duration_ms)} ms`,
    ...(timed_out ? ['timed out'] : []),
    ...(truncated ? ['truncated: the middle of a stream is left out'] : []),
    ...(stdout !== '' && stderr === '' ? ['all of it on stdout'] : []),
    ...(stdout === '' && stderr !== '' ? ['all of it on stderr'] : []),
  ];
}
