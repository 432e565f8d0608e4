/** Parses the options of `sandhaven demo-db`. */
import { invalidArgument } from '../../model/errors.ts';
import { limits } from '../../model/limits.ts';
import { commonFlags, flagIsSet, flagValue, type ParsedFlags, usageError } from '../../surfaces/cli/flags.ts';
import { commonHelp } from '../../surfaces/cli/help.ts';
import { SANDBOX } from './machine.ts';
import { SERVER_PORT } from './server-kind.ts';

const { min, max, default: standard } = limits.documents.demo.documents;

export const demoDbHelp = `Usage: sandhaven demo-db [--documents N] [--listen [HOST:]PORT] [--image IMAGE] [--json]
       sandhaven demo-db --remove

Runs a document database with data to try the DocumentDb tools on, in the sandbox '${SANDBOX}'; prints the
connection string of a user who may only read, and leads its port there until interrupted. The
sandbox stays, with its data and its passwords, and the next call goes on with it.

  --documents N          in all collections together, ${min}-${max} (default ${standard}, or as before)
  --listen [HOST:]PORT   default 127.0.0.1:${SERVER_PORT}, or a free port when that is taken
  --image IMAGE          MongoDB instead, such as mongo:8
  --remove               deletes the sandbox with its data, and the snapshots it was made from

${commonHelp}`;

export const demoDbFlags = {
  ...commonFlags,
  documents: { type: 'string' },
  listen: { type: 'string' },
  image: { type: 'string' },
  remove: { type: 'boolean' },
} as const;

export interface DemoDbOptions {
  json: boolean;
  documents: number | null;
  listen: { host: string; port: number } | null;
  image: string | null;
}

/** Throws `invalid_argument` naming the flag. */
export function demoDbOptions(flags: ParsedFlags): DemoDbOptions {
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
