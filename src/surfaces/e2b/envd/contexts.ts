/** Contexts of code as E2B's clients use them: what runs in one is answered as lines of JSON, while it runs. */
import type { FastifyReply } from 'fastify';
import { z } from 'zod';
import type { Display, LiveOutput, LivePiece } from '../../../control/ports/index.ts';
import { notFound } from '../../../model/errors.ts';
import { limits } from '../../../model/limits.ts';
import { OutputText } from '../../../model/output-text.ts';
import { readOn } from '../../http/base/connections.ts';
import { NotHere } from '../base/errors.ts';
import type { InsideCall } from './entries.ts';

type Line = Record<string, unknown>;

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
  const wanted = typeof id === 'string' ? { context: id } : languageOf(language);
  if (typeof id === 'string') await find(call, id);
  const lines = new Lines(call.reply);
  const { run, error, ended, timed_out } = await call.tool(
    'Sandbox.RunInContext',
    {
      ...{ sandbox: call.sandbox, user: call.user, code, env: env ?? undefined },
      ...wanted,
      timeout_seconds: limits.context.timeoutSeconds.max,
    },
    { live: lines },
  );
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
    ...{ sandbox: call.sandbox, user: call.user, language, cwd: cwd ?? undefined },
  });
  return shown(made);
}

/** GET /contexts */
export async function list(call: InsideCall): Promise<Line[]> {
  const { contexts } = await call.action('ListContexts', { sandbox: call.sandbox });
  return (contexts as Line[]).map(shown);
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

/** Lines to a client, as fast as it reads them. The answer begins with the first, so that what fails before has its status. */
class Lines implements LiveOutput {
  readonly whole = true;
  readonly #reply: FastifyReply;
  readonly #decoded = new OutputText();

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
      ...(table ? { data: columnsOf(table) } : {}),
      ...(chart ? { chart } : {}),
      ...{ type: 'result', is_main_result: type === 'result' },
    });
  }

  end(lines: readonly Line[]): void {
    for (const line of lines) void this.#write(line);
    this.#reply.raw.end();
  }

  #write(line: Line): Promise<void> | undefined {
    const { raw } = this.#reply;
    if (raw.destroyed || raw.writableEnded) return undefined;
    if (!this.#reply.sent) {
      this.#reply.hijack();
      raw.writeHead(200, { 'content-type': 'application/x-ndjson' });
    }
    raw.write(`${JSON.stringify(line)}\n`);
    return readOn(raw);
  }
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
