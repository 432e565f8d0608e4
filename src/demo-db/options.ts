/** What `sandhaven demo-db` can be told. */
import { invalidArgument } from '../model/errors.ts';
import { limits } from '../model/limits.ts';
import {
  commonFlags,
  flagIsSet,
  flagValue,
  type ParsedFlags,
  parseKnownFlags,
  usageError,
} from '../surfaces/cli/flags.ts';
import { commonHelp } from '../surfaces/cli/help.ts';

export interface DemoOptions {
  help: boolean;
  json: boolean;
  /** Of the whole data set. */
  documents: number;
  listen: { host: string; port: number };
  /** Nobody chose it, so a free port does where it is taken. */
  listenIsStandard: boolean;
  /** A MongoDB image of a registry, in place of the one that is built here. */
  image: string | null;
  remove: boolean;
  /** Where the service is. */
  flags: ParsedFlags;
}

const DOCUMENTS = { min: 100, max: 10_000_000, default: 100_000 };
const STANDARD = { host: '127.0.0.1', port: 27_017 };

export const demoHelp = `Usage: sandhaven demo-db [flags]

Runs a MongoDB-compatible database in a sandbox of the service, fills it with a generated shop (orders,
customers, products, events), and shows it on an address of this machine until it is interrupted. Prints the
connection string of a user who may only read; the service's DocumentDb tools use it once it is started with

  DOCUMENTDB_CONNECTION_STRING=mongodb://… sandhaven up

The sandbox 'demo-db' stays; the next time the same data is there in seconds. The first time builds the
image from Debian packages (a minute or two).

  --documents N      documents in all (${DOCUMENTS.min}-${DOCUMENTS.max}, default ${DOCUMENTS.default}); another number loads anew
  --listen HOST:PORT where it is shown (default ${STANDARD.host}:${STANDARD.port}, or a free port)
  --image IMAGE      a MongoDB image of a registry, such as mongo:8, in place of the one built here
  --remove           delete the sandbox, and the data with it

${commonHelp}`;

/** Fails with `invalid_argument` naming the flag. */
export function parseDemoOptions(argv: string[]): DemoOptions {
  const flags = parseKnownFlags(argv, {
    ...commonFlags,
    documents: { type: 'string' },
    listen: { type: 'string' },
    image: { type: 'string' },
    remove: { type: 'boolean' },
  });
  const [extra] = flags.positionals;
  if (extra !== undefined) throw usageError(`'${extra}' is not understood.`);
  const listen = flagValue(flags, 'listen');
  return {
    help: flagIsSet(flags, 'help'),
    json: flagIsSet(flags, 'json'),
    documents: documentsOf(flagValue(flags, 'documents')),
    listen: listen === undefined ? STANDARD : addressOf(listen),
    listenIsStandard: listen === undefined,
    image: imageOf(flagValue(flags, 'image')),
    remove: flagIsSet(flags, 'remove'),
    flags,
  };
}

function documentsOf(text: string | undefined): number {
  if (text === undefined) return DOCUMENTS.default;
  const number = /^\d{1,9}$/.test(text) ? Number(text) : Number.NaN;
  if (number >= DOCUMENTS.min && number <= DOCUMENTS.max) return number;
  throw invalidArgument(
    '--documents',
    `--documents must be ${DOCUMENTS.min} to ${DOCUMENTS.max}; '${text}' was given.`,
  );
}

function addressOf(text: string): { host: string; port: number } {
  const match = /^(127(?:\.\d{1,3}){3}|localhost|\[::1\]):(\d{1,5})$/.exec(text);
  const port = Number(match?.[2]);
  const host = match?.[1];
  if (host !== undefined && port <= 65_535) return { host: host.replace(/[[\]]/g, ''), port };
  throw invalidArgument(
    '--listen',
    `--listen must be an address of this machine's loopback; '${text}' was given.`,
    'For example 127.0.0.1:27017; port 0 takes a free one.',
  );
}

function imageOf(text: string | undefined): string | null {
  if (text === undefined) return null;
  if (text !== '' && text.length <= limits.imageReferenceChars) return text;
  throw invalidArgument('--image', '--image must name a container image.', 'For example mongo:8.');
}
