/**
 * `sandhaven demo-db`: runs a document database to try the DocumentDb tools on, in a sandbox of the service. Every
 * step leaves a state that the next call continues from, so it may be interrupted at any time.
 */

import { invalidArgument } from '../model/errors.ts';
import { limits } from '../model/limits.ts';
import { createAdminClient, createClient } from '../surfaces/cli/client.ts';
import { interrupted } from '../surfaces/cli/commands/forward.ts';
import { type Connection, connectionOf } from '../surfaces/cli/connection.ts';
import {
  commonFlags,
  flagIsSet,
  flagValue,
  type ParsedFlags,
  parseKnownFlags,
  usageError,
} from '../surfaces/cli/flags.ts';
import { type Forwarder, isTaken, openForwarder } from '../surfaces/cli/forwarder.ts';
import { commonHelp } from '../surfaces/cli/help.ts';
import type { CliIo, Command } from '../surfaces/cli/io.ts';
import { type ProgressLine, printProblem, progressLine } from '../surfaces/cli/output.ts';
import type { LoadedData } from './data/load.ts';
import { closeClient, connectWhenReady, readerConnectionString } from './database.ts';
import { removeMachine, SANDBOX, type Steps, startMachine } from './machine.ts';
import { BUILT_IN, SERVER_PORT, serverKind } from './server-kind.ts';

export interface DemoDbDependencies {
  /** Builds the image of the document database on this machine unless it exists. */
  buildImage(onOutput: (text: string) => void, signal: AbortSignal): Promise<void>;
  /** Returns the recipe digest of the built image; null without an image. */
  builtRecipe(): Promise<string | null>;
}

export function demoDb(parts: DemoDbDependencies): Pick<Command, 'run'> {
  return {
    async run(argv, io) {
      const flags = parseKnownFlags(argv, demoDbFlags);
      if (flagIsSet(flags, 'help')) {
        io.stdout.write(demoDbHelp);
        return 0;
      }
      const options = demoDbOptions(flags);
      const connection = await connectionOf(flags, io);
      const progress = progressLine(io);
      const steps = stepsOf(connection, parts, progress, io);
      if (flagIsSet(flags, 'remove')) {
        const removed = await removeMachine(steps);
        steps.say(removed.length > 0 ? `deleted ${removed.join(', ')}` : 'there is none');
        return 0;
      }
      try {
        await serve(connection, options, steps, io);
      } finally {
        progress.clear();
      }
      return 0;
    },
  };
}

async function serve(connection: Connection, options: DemoDbOptions, steps: Steps, io: CliIo): Promise<void> {
  const asked = options.image === null ? null : serverKind(options.image);
  const { machine, image } = await startMachine(steps, asked, asked ?? serverKind(BUILT_IN));
  const kind = serverKind(image);
  let ready = false;
  const forwarder = await listen(options.listen, (at) =>
    openForwarder({
      connection,
      ...{ sandbox: machine.id, port: SERVER_PORT, listen: at },
      // Until the server listens inside, each attempt to reach it fails as expected.
      onProblem: (problem) => void (ready && printProblem(problem, options.json, io)),
    }),
  );
  try {
    steps.say('waiting for the database');
    const client = await connectWhenReady(forwarder, kind, machine, io.signal);
    ready = true;
    try {
      // Loaded here, so that no other command pays for the driver.
      const { loadDemoData } = await import('./data/load.ts');
      const { documents } = options;
      steps.say(`looking for the ${documents === null ? '' : `${documents} `}documents`);
      const onProgress = (done: number, total: number) =>
        steps.onProgress({ message: 'demo-db: loading documents', done, total });
      const data = await loadDemoData(client, { documents, onProgress, signal: io.signal });
      steps.say(data.loaded ? 'loaded them' : 'they are there');
      announce(readerConnectionString(forwarder, machine), forwarder, data, options, io);
    } finally {
      await closeClient(client);
    }
    await interrupted(io.signal);
  } finally {
    await forwarder.close();
  }
}

function announce(
  connectionString: string,
  { host, port }: Forwarder,
  { loaded, collections }: LoadedData,
  { json }: DemoDbOptions,
  io: CliIo,
): void {
  if (json) {
    const summary = { connection_string: connectionString, sandbox: SANDBOX, host, port };
    io.stdout.write(`${JSON.stringify({ ...summary, loaded, databases: { shop: collections } })}\n`);
    return;
  }
  io.stdout.write(`${connectionString}\n`);
  io.stderr.write(
    `\nTo try the DocumentDb tools on it, start the service anew in another terminal:\n` +
      `  export DOCUMENTDB_CONNECTION_STRING='${connectionString}'\n  bin/sandhaven up\n` +
      'This command goes on meanwhile, and ends with Ctrl-C; the sandbox stays.\n',
  );
}

/** Falls back to a free port when another program has the standard one, unless the user chose it. */
async function listen(
  chosen: DemoDbOptions['listen'],
  open: (at: { host: string; port: number }) => Promise<Forwarder>,
): Promise<Forwarder> {
  return open(chosen ?? { host: '127.0.0.1', port: SERVER_PORT }).catch((error: unknown) => {
    if (chosen || !isTaken(error)) throw error;
    return open({ host: '127.0.0.1', port: 0 });
  });
}

function stepsOf(
  connection: Connection,
  parts: DemoDbDependencies,
  progress: ProgressLine,
  io: CliIo,
): Steps {
  const say = (step: string) => {
    progress.clear();
    io.stderr.write(`demo-db: ${step}\n`);
  };
  return {
    client: createClient(connection),
    administer: createAdminClient(connection),
    signal: io.signal,
    say,
    onProgress: progress.show,
    buildImage: () => parts.buildImage((text) => void io.stderr.write(text), io.signal),
    recipe: parts.builtRecipe,
  };
}

const { min, max, default: standard } = limits.documents.demo.documents;

/** Parses the options of `sandhaven demo-db`. */
const demoDbHelp = `Usage: sandhaven demo-db [--documents N] [--listen [HOST:]PORT] [--image IMAGE] [--json]
       sandhaven demo-db --remove

Runs a document database with data to try the DocumentDb tools on, in the sandbox '${SANDBOX}'; prints the
connection string of a user who may only read, and leads its port there until interrupted. The
sandbox stays, with its data and its passwords, and the next call goes on with it.

  --documents N          in all collections together, ${min}-${max} (default ${standard}, or as before)
  --listen [HOST:]PORT   default 127.0.0.1:${SERVER_PORT}, or a free port when that is taken
  --image IMAGE          MongoDB instead, such as mongo:8
  --remove               deletes the sandbox with its data, and the snapshots it was made from

${commonHelp}`;

const demoDbFlags = {
  ...commonFlags,
  documents: { type: 'string' },
  listen: { type: 'string' },
  image: { type: 'string' },
  remove: { type: 'boolean' },
} as const;

interface DemoDbOptions {
  json: boolean;
  documents: number | null;
  listen: { host: string; port: number } | null;
  image: string | null;
}

/** Throws `invalid_argument` naming the flag. */
function demoDbOptions(flags: ParsedFlags): DemoDbOptions {
  const [extra] = [...flags.positionals, ...(flags.rest ?? [])];
  if (extra !== undefined) throw usageError(`'${extra}' is not the value of any flag.`);
  return {
    json: flagIsSet(flags, 'json'),
    documents: parseDocuments(flagValue(flags, 'documents')),
    listen: parseListen(flagValue(flags, 'listen')),
    image: flagValue(flags, 'image') ?? null,
  };
}

function parseDocuments(text: string | undefined): number | null {
  if (text === undefined) return null;
  const count = Number(text);
  if (/^\d+$/.test(text) && count >= min && count <= max) return count;
  throw invalidArgument('--documents', `--documents must be a whole number from ${min} to ${max}.`);
}

function parseListen(text: string | undefined): DemoDbOptions['listen'] {
  if (text === undefined) return null;
  const match = /^(?:(?:\[([0-9a-fA-F:]+)\]|([^:[\]]+)):)?(\d{1,5})$/.exec(text);
  const port = Number(match?.[3]);
  if (match && port <= 65_535) return { host: match[1] ?? match[2] ?? '127.0.0.1', port };
  throw invalidArgument('--listen', '--listen must be [HOST:]PORT.', `Such as 127.0.0.1:${SERVER_PORT}.`);
}
