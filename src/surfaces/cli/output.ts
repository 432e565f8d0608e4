/** Prints results on standard output, problems and progress on standard error. */
import type { CallContext, Tool } from '../../catalog/tool.ts';
import { errorTable, type Problem } from '../../model/errors.ts';
import type { CliIo } from './io.ts';
import { printable, printableLines, render, table } from './render.ts';

export function printResult(
  tool: Tool,
  result: Record<string, unknown>,
  json: boolean,
  { stdout }: CliIo,
): void {
  stdout.write(json ? `${JSON.stringify(result)}\n` : textOf(tool, result));
}

/** Returns the result for people. */
export function textOf(tool: Tool, result: Record<string, unknown>): string {
  const text = tool.printed?.(result) ?? (tool.text ? printableLines(tool.text(result)) : render(result));
  return text.endsWith('\n') || text === '' ? text : `${text}\n`;
}

/** @param rows The result as a table; null when it is none. */
export function printRecords(
  rows: Record<string, unknown>[] | null,
  result: Record<string, unknown>,
  json: boolean,
  { stdout }: CliIo,
): void {
  if (json) stdout.write(`${JSON.stringify(result)}\n`);
  else if (rows === null) stdout.write(render(result));
  else stdout.write(rows.length === 0 ? 'There are none.\n' : `${table(rows)}\n`);
}

/** @returns the exit status for the problem's code. */
export function printProblem(problem: Problem, json: boolean, { stderr }: CliIo): number {
  if (json) stderr.write(`${JSON.stringify(problem)}\n`);
  else {
    const request = problem.code === 'internal' ? ` (${problem.request_id})` : '';
    stderr.write(`${printable(`${problem.title}: ${problem.detail}${request}`)}\n`);
    if (problem.hint) stderr.write(`${printable(`Hint: ${problem.hint}`)}\n`);
    const { authorization_url: where } = problem;
    if (where) stderr.write(`${printable(`authorization_url: ${where}`)}\n`);
  }
  // A newer service may know a code that this client does not.
  return errorTable[problem.code]?.exit ?? errorTable.internal.exit;
}

export interface ProgressLine {
  show: CallContext['progress'];
  /** Erases the line. */
  clear(): void;
}

/** Shows one line that is overwritten on a terminal; nothing in a pipe. */
export function progressLine({ stderr }: CliIo): ProgressLine {
  if (!stderr.isTTY) return { show: () => {}, clear: () => {} };
  let shown = false;
  return {
    show({ message, done, total }) {
      const share = done !== undefined && total ? ` ${Math.floor((100 * done) / total)} %` : '';
      stderr.write(`\r\x1b[K${printable(message + share).slice(0, (stderr.columns ?? 80) - 1)}`);
      shown = true;
    },
    clear() {
      if (shown) stderr.write('\r\x1b[K');
      shown = false;
    },
  };
}
