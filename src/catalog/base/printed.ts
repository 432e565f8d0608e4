/** Output of a program in tools. Where the streams are not known apart, there is only `output`. */
import { z } from 'zod';
import type { ExecResult } from '../../control/ports/index.ts';

export interface Printed {
  output: string;
  stdout?: string | undefined;
  stderr?: string | undefined;
}

/** Returns the output unchanged, for a terminal or a pipe. @param stand Status to append; null for none. */
export function asPrinted(output: string, stand: string | null): string {
  if (stand === null) return output;
  const gap = output === '' || output.endsWith('\n') ? '' : '\n';
  return `${output}${gap}[${stand}]`;
}

/**
 * Returns the output for a text, with the status last. Where both streams have output they stand apart; interleaved
 * output also comes in its own order first.
 */
export function printedText(
  printed: Printed,
  stand: readonly string[],
  more: readonly string[] = [],
): string {
  return [...shown(printed), ...more, `[${[...stand, ...onlyStream(printed)].join(', ')}]`].join('\n');
}

function shown({ output, stdout = '', stderr = '' }: Printed): string[] {
  if (output === '') return ['(no output)'];
  if (stdout === '' || stderr === '') return lines(output);
  const apart = ['stdout:', ...lines(stdout), 'stderr:', ...lines(stderr)];
  const ordered = output === stdout + stderr || output === stderr + stdout;
  return ordered ? apart : ['as it came:', ...lines(output), ...apart];
}

/** Removes the newline at the end, or notes its absence. */
function lines(text: string): string[] {
  return text.endsWith('\n') ? [text.slice(0, -1)] : [text, '[no newline at the end]'];
}

function onlyStream({ stdout, stderr }: Printed): string[] {
  if (stdout && stderr === '') return ['all of it on stdout'];
  return stderr && stdout === '' ? ['all of it on stderr'] : [];
}

/** View of a finished command. */
export const execOutput = z.looseObject({
  output: z.string(),
  stdout: z.string(),
  stderr: z.string(),
  exit_code: z.int(),
  timed_out: z.boolean(),
  truncated: z.boolean(),
  duration_ms: z.number().meta({ unlisted: true }),
});

type ExecView = z.output<typeof execOutput>;

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
