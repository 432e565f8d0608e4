/** Prints results on standard output, problems and progress on standard error. */
import { once } from 'node:events';
import type { CallContext, Tool } from '../../catalog/base/tool.ts';
import type { LiveOutput, LivePiece } from '../../control/ports/index.ts';
import { errorTable, type Problem } from '../../model/errors.ts';
import type { CliIo } from './io.ts';

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

const GAP = '  ';

type Row = Record<string, unknown>;

/**
 * Renders results for people: one field a line, lists of records as tables. Built from the result alone. Ends with a
 * line break.
 */
export function render(result: Row): string {
  const entries = Object.entries(result);
  const lists = entries.filter(([, value]) => Array.isArray(value)) as [string, unknown[]][];
  const fields = entries.filter(([, value]) => !Array.isArray(value));
  const width = Math.max(0, ...fields.map(([name]) => name.length));
  const lines = fields.map(([name, value]) => `${name.padEnd(width)}${GAP}${cell(value)}`);
  const blocks = [
    ...lists.map(([, items]) => (items.every(isRow) ? table(items) : items.map(cell).join('\n'))),
    lines.join('\n'),
  ];
  return `${blocks.filter((block) => block !== '').join('\n\n')}\n`;
}

/** Columns are the keys of the first row; numbers are right-aligned. */
export function table(rows: Row[]): string {
  const [first] = rows;
  if (!first) return '';
  const columns = Object.keys(first).map((key) => {
    const cells = rows.map((row) => cell(row[key]));
    return {
      title: key.toUpperCase(),
      cells,
      right: rows.every((row) => typeof row[key] === 'number'),
      width: Math.max(key.length, ...cells.map((text) => text.length)),
    };
  });
  const line = (text: (column: (typeof columns)[number]) => string) =>
    columns
      .map((column) =>
        column.right ? text(column).padStart(column.width) : text(column).padEnd(column.width),
      )
      .join(GAP)
      .trimEnd();
  return [
    line(({ title }) => title),
    ...rows.map((_, index) => line(({ cells }) => cells[index] ?? '')),
  ].join('\n');
}

/** Escapes control characters: names inside a sandbox may hold anything, and none of it may control the terminal. */
export function printable(text: string): string {
  // biome-ignore lint/suspicious/noControlCharactersInRegex: control characters are what it looks for.
  return text.replace(/[\u0000-\u001f\u007f-\u009f\u2028\u2029\u202a-\u202e\u2066-\u2069]/g, (character) => {
    const code = character.charCodeAt(0);
    return code > 0xff ? `\\u${code.toString(16)}` : `\\x${code.toString(16).padStart(2, '0')}`;
  });
}

/** Keeps line breaks and tabs. */
export function printableLines(text: string): string {
  return text.replace(/[^\n\t]+/g, printable);
}

function cell(value: unknown): string {
  if (value === null || value === undefined) return '-';
  if (typeof value === 'string') return printable(value);
  if (!isRow(value)) return printable(JSON.stringify(value));
  return Object.entries(value)
    .map(([key, item]) => `${printable(key)}=${isRow(item) ? `(${cell(item)})` : cell(item)}`)
    .join(' ');
}

function isRow(value: unknown): value is Row {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

type Stream = LivePiece['stream'];

/** Says that so many bytes are not there. */
export function missing(bytes: number): string {
  return `${bytes} bytes of the output are missing: they came too fast to be kept.\n`;
}

/**
 * Output of a program on the streams of this process: each byte once, as it comes, and no faster than it is taken. What is missing is
 * named on standard error, never among the output.
 */
export class ShownOutput implements LiveOutput {
  readonly whole = true;
  readonly #io: CliIo;
  readonly #places: Record<Stream, CliIo[Stream]>;
  readonly #shown = new Set<Stream>();

  /** @param both Where both streams are printed; by default each on its own. */
  constructor(io: CliIo, both?: CliIo['stdout']) {
    this.#io = io;
    this.#places = { stdout: both ?? io.stdout, stderr: both ?? io.stderr };
  }

  show({ stream, bytes, leftOutBytes }: LivePiece): Promise<void> | undefined {
    this.#shown.add(stream);
    if (leftOutBytes > 0) this.#io.stderr.write(missing(leftOutBytes));
    if (bytes.length === 0 || this.#places[stream].write(bytes)) return undefined;
    // An interrupt ends the call, and with it the wait.
    return once(this.#places[stream], 'drain', { signal: this.#io.signal }).then(
      () => {},
      () => {},
    );
  }

  /** true: some of these streams has been shown. */
  has(...streams: Stream[]): boolean {
    return streams.some((stream) => this.#shown.has(stream));
  }
}
