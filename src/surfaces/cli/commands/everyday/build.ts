/** `sandhaven build`: builds a snapshot from a Dockerfile and a folder, and shows what happens meanwhile. */
import { stat } from 'node:fs/promises';
import type { IncomingMessage } from 'node:http';
import { relative, resolve } from 'node:path';
import { createInterface } from 'node:readline';
import { Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import type { Problem } from '../../../../model/errors.ts';
import { type Connection, connectionOf, unreachable } from '../../connection.ts';
import { answerOf, jsonOf, openRequest } from '../../copy/byte-request.ts';
import { packed } from '../../copy/folder.ts';
import { counted } from '../../copy/place.ts';
import { commonFlags, flagIsSet, flagValue, parseKnownFlags, usageError } from '../../flags.ts';
import { commonHelp } from '../../help.ts';
import type { CliIo, Command } from '../../io.ts';
import { printable, printableLines, printProblem, progressLine } from '../../output.ts';

const help = `Usage: sandhaven build -t NAME [flags] FOLDER

Builds a snapshot from the Dockerfile of a folder: sandhaven create --snapshot NAME starts from it. Each
step runs in a sandbox of yours, and is kept, so that the next build runs what has changed alone. What
.dockerignore names is not sent. A snapshot that was built under this name before goes for the new one.

  -t, --tag NAME           name of the snapshot
  -f, --file FILE          the Dockerfile, in the folder (default: Dockerfile)
  --target STAGE           build up to this stage, by name or number (default: the last)
  --build-arg NAME=VALUE   value of an ARG; NAME alone takes it from the environment. May stand several times
  --no-cache               run every step

  sandhaven build -t tools .
  sandhaven create --snapshot tools

With --json, standard output has a line of JSON for each event (docs/builds.md).

${commonHelp}`;

const flagSpecs = {
  ...commonFlags,
  tag: { type: 'string', short: 't' },
  file: { type: 'string', short: 'f' },
  target: { type: 'string' },
  'build-arg': { type: 'string' },
  cache: { type: 'boolean' },
} as const;

/** As the service sends them. */
interface BuildEvent {
  event: string;
  step?: number;
  of?: number;
  stage?: string;
  line?: number;
  text?: string;
  cached?: boolean;
  stream?: string;
  exit_code?: number;
  snapshot?: { name: string; id: string };
  problem?: Problem;
}

export const build: Command = {
  summary: 'build a snapshot from a Dockerfile',
  shape: () => ({
    flags: { tag: 'text', file: { of: 'file' }, target: 'text', 'build-arg': 'text', 'no-cache': 'none' },
    takes: ['file'],
  }),
  async run(argv, io) {
    const flags = parseKnownFlags(argv, flagSpecs);
    if (flagIsSet(flags, 'help')) {
      io.stdout.write(help);
      return 0;
    }
    const [folder, extra] = [...flags.positionals, ...(flags.rest ?? [])];
    const name = flagValue(flags, 'tag');
    if (folder === undefined || extra !== undefined)
      throw usageError('A build takes one folder.', 'Write sandhaven build -t NAME .');
    if (name === undefined) throw usageError('The snapshot has no name.', 'Give one: -t NAME.');
    const file = await dockerfileIn(folder, flagValue(flags, 'file'));
    const query = new URLSearchParams({ name, file });
    const target = flagValue(flags, 'target');
    if (target !== undefined) query.set('target', target);
    for (const pair of flags.values.get('build-arg') ?? []) query.append('build_arg', argOf(pair, io));
    if (flagValue(flags, 'cache') === 'false') query.set('cache', 'false');
    const connection = await connectionOf(flags, io);
    const answer = await sent(connection, query, { folder, file }, io);
    return shown(answer, connection, flagIsSet(flags, 'json'), io);
  },
};

/** Returns its path in the folder: as given from here, or from the folder. */
async function dockerfileIn(folder: string, given: string | undefined): Promise<string> {
  const found = await stat(folder).catch(() => null);
  if (!found?.isDirectory())
    throw usageError(
      `There is no folder '${folder}'.`,
      'Give the folder that the build may copy from, such as .',
    );
  if (given === undefined) return 'Dockerfile';
  const fromHere = relative(resolve(folder), resolve(given));
  const isThere = (await stat(given).catch(() => null))?.isFile() === true;
  const path =
    isThere && !fromHere.startsWith('..') ? fromHere : relative(resolve(folder), resolve(folder, given));
  if (path.startsWith('..'))
    throw usageError(`'${given}' is not in '${folder}'.`, 'Copy it there: the build gets this folder alone.');
  return path;
}

function argOf(pair: string, { env }: CliIo): string {
  if (pair.includes('=')) return pair;
  const value = env[pair];
  if (value === undefined)
    throw usageError(`The build argument '${pair}' has no value.`, `Write --build-arg ${pair}=VALUE.`);
  return `${pair}=${value}`;
}

async function sent(
  connection: Connection,
  query: URLSearchParams,
  { folder, file }: { folder: string; file: string },
  io: CliIo,
): Promise<IncomingMessage> {
  const headers = { 'content-type': 'application/x-tar' };
  const outgoing = openRequest(
    connection,
    { method: 'POST', path: `/v1/builds?${query}`, headers },
    io.signal,
  );
  const answered = answerOf(outgoing, connection);
  const progress = counted('Sending the folder:', undefined, progressLine(io));
  const ended = new AbortController();
  let fault: unknown = null;
  const sending = pipeline(Readable.from(packed(folder, file)), progress.stream, outgoing, {
    signal: ended.signal,
  }).catch((error: unknown) => {
    fault = error;
    // A file that cannot be read ends the request.
    outgoing.destroy(error instanceof Error ? error : undefined);
  });
  try {
    // A refusal comes before the end of the body.
    return await answered.catch((error: unknown) => {
      throw fault ?? error;
    });
  } finally {
    progress.clear();
    void answered.then(
      () => ended.abort(),
      () => sending,
    );
  }
}

async function shown(
  answer: IncomingMessage,
  connection: Connection,
  json: boolean,
  io: CliIo,
): Promise<number> {
  if (answer.statusCode !== 200) {
    await jsonOf(answer, connection);
    throw unreachable(connection.url, new Error(`status ${answer.statusCode} without a problem`));
  }
  let status: number | null = null;
  for await (const line of createInterface({ input: answer, crlfDelay: Number.POSITIVE_INFINITY })) {
    if (line === '') continue;
    const event = JSON.parse(line) as BuildEvent;
    if (json) io.stdout.write(`${line}\n`);
    else write(event, io);
    if (event.event === 'result') status = 0;
    if (event.problem) status = printProblem(event.problem, json, io);
  }
  if (status !== null) return status;
  io.signal.throwIfAborted();
  throw unreachable(connection.url, new Error('the answer ended before the build'));
}

/** The log goes to standard error, the snapshot to standard output. */
function write(event: BuildEvent, { stdout, stderr }: CliIo): void {
  const { event: kind, step, of, stage, line, text = '', cached, snapshot } = event;
  if (kind === 'step')
    stderr.write(`${printable(`[${stage} ${step}/${of}] ${text}${cached ? '  (kept)' : ''}`)}\n`);
  else if (kind === 'output') stderr.write(printableLines(text));
  else if (kind === 'note') stderr.write(`${printable(`Note${line ? `, line ${line}` : ''}: ${text}`)}\n`);
  else if (kind === 'result' && snapshot) stdout.write(`${printable(`${snapshot.name}  ${snapshot.id}`)}\n`);
}
