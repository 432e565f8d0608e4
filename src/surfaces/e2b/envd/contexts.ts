/** Contexts of code as E2B's clients use them: what runs in one is answered as lines of JSON, while it runs. */
import type { FastifyReply } from 'fastify';
import { z } from 'zod';
import type { Display, LiveOutput, LivePiece } from '../../../control/ports/index.ts';
import { notFound } from '../../../model/errors.ts';
import { limits } from '../../../model/limits.ts';
import { OutputText } from '../../../model/output-text.ts';
import { readOn } from '../../http/base/connections.ts';
import { NotHere } from '../base/errors.ts';
import { type InsideCall, ROOT } from './filesystem.ts';

type Line = Record<string, unknown>;

/** Interpreters are root's, and begin here. */
const HOME = '/home/user';

/** Clients' names of languages; TypeScript and JavaScript have one context. */
const languages = new Map([
  ['python', { language: 'python', context: 'python' }],
  ...['javascript', 'js', 'typescript', 'ts'].map(
    (name) => [name, { language: 'typescript', context: 'javascript' }] as const,
  ),
  ['bash', { language: 'bash', context: 'bash' }],
]);

/** Their names of the forms of a result. */
const forms = new Map([
  ...([
    ['text/plain', 'text'],
    ['text/html', 'html'],
    ['text/markdown', 'markdown'],
  ] as const),
  ...([
    ['text/latex', 'latex'],
    ['image/svg+xml', 'svg'],
    ['image/png', 'png'],
  ] as const),
  ...([
    ['image/jpeg', 'jpeg'],
    ['application/pdf', 'pdf'],
    ['application/json', 'json'],
  ] as const),
  ['application/javascript', 'javascript'],
]);
const TABLE = 'application/vnd.dataresource+json';

/** POST /execute. Hanging up interrupts the code. */
export async function execute(call: InsideCall): Promise<FastifyReply> {
  const { code, context_id: id, language, env_vars: env } = call.body;
  const wanted =
    typeof id === 'string' && !defaults.includes(id) ? { context: id } : languageOf(id ?? language);
  if (!('language' in wanted)) await find(call, wanted.context);
  const lines = new Lines(call.reply);
  const { run, error, ended, timed_out } = await call
    .tool(
      'Sandbox.RunInContext',
      {
        ...{ sandbox: call.sandbox, user: ROOT, cwd: HOME, code, env: env ?? undefined },
        ...wanted,
        timeout_seconds: limits.context.timeoutSeconds.max,
      },
      { live: lines },
    )
    .catch(async (failed: unknown) => {
      // Clients take a broken answer for a sandbox that has ended, and ask whether it has. One that has begun has no status any more.
      if (call.reply.sent || !(await call.services.sandboxTokens.isRunning(call.sandbox))) lines.breakOff();
      throw failed;
    })
    .finally(() => lines.close());
  lines.end([
    ...(error ? [{ type: 'error', ...error }] : []),
    ...(ended === null ? [] : [failure('ContextEnded', ended)]),
    ...(timed_out ? [failure('TimeoutError', 'The code was interrupted at the longest time of a run.')] : []),
    { type: 'number_of_executions', execution_count: run },
    { type: 'end_of_execution' },
  ]);
  return call.reply;
}

function failure(name: string, value: unknown): Line {
  return { type: 'error', name, value, traceback: '' };
}

/** POST /contexts */
export async function create(call: InsideCall): Promise<Line> {
  const { language } = languageOf(call.body['language']);
  const { cwd } = call.body;
  const made = await call.action('CreateContext', {
    ...{ sandbox: call.sandbox, user: ROOT, language, cwd: cwd ?? HOME },
  });
  return shown(made);
}

/** Contexts that code runs in where it names none: they are made by their first code. */
const defaults: readonly string[] = ['python', 'javascript'];

/** GET /contexts: the default ones first. */
export async function list(call: InsideCall): Promise<Line[]> {
  const { contexts } = await call.action('ListContexts', { sandbox: call.sandbox });
  const there = (contexts as Line[]).map(shown);
  const missing = defaults.filter((name) => !there.some(({ id }) => id === name));
  return [...missing.map((name) => ({ id: name, language: name, cwd: HOME })), ...there];
}

/** POST /contexts/ID/restart */
export async function restart(call: InsideCall): Promise<Line> {
  const { sandbox } = call;
  return shown(await call.action('RestartContext', { sandbox, context: call.params['id'] }));
}

/** DELETE /contexts/ID */
export async function remove(call: InsideCall): Promise<undefined> {
  const { sandbox } = call;
  await call.action('DeleteContext', { sandbox, context: call.params['id'] });
  return undefined;
}

function shown({ context, language, cwd }: Line): Line {
  return { id: context, language, cwd };
}

function languageOf(name: unknown): { language: string; context: string } {
  const found = languages.get(String(name ?? 'python').toLowerCase());
  if (found) return found;
  throw new NotHere(`language: Contexts are python, javascript, typescript and bash here, not ${name}.`);
}

/** Code in a context that is not there must not make it. */
async function find(call: InsideCall, wanted: string): Promise<void> {
  if ((await list(call)).some(({ id }) => id === wanted)) return;
  throw notFound('context', `There is no context '${wanted}'.`, 'Create it first.');
}

/** After this the answer begins without a line. */
const BEGIN_MS = 500;

/** Lines to a client, as fast as it reads them. The answer begins with the first, so that what fails at once has its status. */
class Lines implements LiveOutput {
  readonly whole = true;
  readonly #reply: FastifyReply;
  readonly #decoded = new OutputText();
  /** Clients wait a while for the beginning of an answer, and as long as they like for its end. */
  readonly #begin = setTimeout(() => this.#open(), BEGIN_MS);

  constructor(reply: FastifyReply) {
    this.#reply = reply;
  }

  show(piece: LivePiece): Promise<void> | undefined {
    const { text } = this.#decoded.of(piece);
    return text === '' ? undefined : this.#write({ type: piece.stream, text, timestamp: Date.now() * 1_000 });
  }

  display({ type, data, chart }: Display): void {
    const shapes = Object.entries(data).map(([media, value]) => [forms.get(media) ?? media, value] as const);
    const table = tableIn(data[TABLE]);
    void this.#write({
      ...Object.fromEntries(shapes),
      ...textOf(data['text/plain']),
      ...(table ? { data: columnsOf(table) } : {}),
      ...(chart ? { chart: chartOf(chart) } : {}),
      ...{ type: 'result', is_main_result: type === 'result' },
    });
  }

  end(lines: readonly Line[]): void {
    for (const line of lines) void this.#write(line);
    this.#reply.raw.end();
  }

  /** Nothing begins by itself any more. */
  close(): void {
    clearTimeout(this.#begin);
  }

  breakOff(): void {
    this.#open();
    this.#reply.raw.destroy();
  }

  #open(): void {
    const { raw, sent } = this.#reply;
    if (sent || raw.destroyed) return;
    this.#reply.hijack();
    raw.writeHead(200, { 'content-type': 'application/x-ndjson' }).flushHeaders();
  }

  #write(line: Line): Promise<void> | undefined {
    const { raw } = this.#reply;
    if (raw.destroyed || raw.writableEnded) return undefined;
    this.#open();
    raw.write(`${JSON.stringify(line)}\n`);
    return readOn(raw);
  }
}

/** Returns the text of a value, which of a text is without its quotes. */
function textOf(plain: unknown): { text?: unknown } {
  if (typeof plain !== 'string') return {};
  const [, inner] = /^(?:'(.*)'|"(.*)")$/s.exec(plain)?.filter((part) => part !== undefined) ?? [];
  return { text: inner ?? plain };
}

const table = z.object({
  data: z.array(z.record(z.string(), z.unknown())),
  schema: z.object({
    fields: z.array(z.object({ name: z.string() })),
    primaryKey: z.array(z.string()).default([]),
  }),
});
type Table = z.output<typeof table>;

/** Values of a table that are turned into columns; the interpreter shows fewer. Programs inside may have made any other. */
const MOST_VALUES = 100_000;

function tableIn(value: unknown): Table | null {
  const { data } = value === undefined ? {} : table.safeParse(value);
  return data && data.data.length * data.schema.fields.length <= MOST_VALUES ? data : null;
}

/** Values of a data frame by the names of its columns, without the index. */
function columnsOf({ data, schema: { fields, primaryKey } }: Table): Line {
  const names = fields.map(({ name }) => name).filter((name) => !primaryKey.includes(name));
  return Object.fromEntries(names.map((name) => [name, data.map((row) => row[name])]));
}

// Data of figures as E2B's clients read them: other names, and the unit that stands behind the label of an axis.

type Fields = Record<string, unknown>;

const types = new Map([
  ['box', 'box_and_whisker'],
  ['composite', 'superchart'],
]);

export function chartOf({ type, elements, ...rest }: Fields): Fields {
  const parts = Array.isArray(elements) ? (elements as Fields[]) : [];
  const named = { type: types.get(String(type)) ?? type, title: rest['title'] ?? null };
  if (type === 'composite') return { ...named, elements: parts.map(chartOf) };
  return {
    ...{ ...rest, ...named },
    ...{ x_unit: unitIn(rest['x_label']), y_unit: unitIn(rest['y_label']) },
    elements: type === 'box' ? parts.map(quartiles) : parts,
  };
}

/** Returns `Hz` of `Amplitude (Hz)`. */
function unitIn(label: unknown): string | null {
  return /\(([^()]{1,60})\)$/.exec(String(label ?? '').trimEnd())?.[1] ?? null;
}

function quartiles({ q1, q3, ...rest }: Fields): Fields {
  return { ...rest, first_quartile: q1, third_quartile: q3 };
}
