/** `sandhaven images push`: brings the images that `make images` made to a cluster's registry. */
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import { home, version } from '../home.ts';
import { isRegistryName } from '../model/registries.ts';
import { dockerCredential } from '../runtime/images/push/docker-config.ts';
import { type Pushed, pushImage } from '../runtime/images/push/push.ts';
import type { Account } from '../runtime/images/push/session.ts';
import { type ImageReference, parseReference } from '../runtime/images/registry/reference.ts';
import {
  flagIsSet,
  flagValue,
  type ParsedFlags,
  parseKnownFlags,
  usageError,
} from '../surfaces/cli/flags.ts';
import type { CliIo } from '../surfaces/cli/io.ts';
import { progressLine } from '../surfaces/cli/output.ts';

/** Each is a layout `<name>.oci`, and a repository of this name. */
const ofCluster = ['sandhaven', 'sandhaven-agent', 'sandhaven-base'];
/** No part of a cluster, so pushed by its name alone. */
const ofDocker = ['sandhaven-standalone'];
const names = [...ofCluster, ...ofDocker];

const dist = join(home, 'dist');

const help = `Usage: sandhaven images push REGISTRY[/PATH] [flags]

Pushes the images that \`make images\` made: the service (PATH/sandhaven), the agent (PATH/sandhaven-agent) and the base
image of sandboxes (PATH/sandhaven-base), for the architecture of this machine. Prints each with its digest. Layers
that the registry has are not sent again. The image for Docker goes with --only sandhaven-standalone.

  --only NAME          one of these images; may be repeated
  --tag TAG            tag in the registry (${version})
  --from DIR           folder of the layouts (dist in the checkout)
  --username NAME      with a password; without it, what ~/.docker/config.json has for the registry, if anything
  --password-stdin     read the password from standard input
  --password-env NAME  take the password from this environment variable
  --plain-http         speak HTTP without TLS, to a registry of tests
  --json               print the result as JSON
`;

interface Result extends Pushed {
  name: string;
  /** The image by its tag, and by its digest. */
  reference: string;
  pinned: string;
}

/** @returns the exit status */
export async function imagesCommand(argv: string[], io: CliIo): Promise<number> {
  const flags = parseKnownFlags(argv, {
    only: { type: 'string' },
    tag: { type: 'string' },
    from: { type: 'string' },
    username: { type: 'string' },
    'password-stdin': { type: 'boolean' },
    'password-env': { type: 'string' },
    'plain-http': { type: 'boolean' },
    json: { type: 'boolean' },
    help: { type: 'boolean', short: 'h' },
  });
  if (flagIsSet(flags, 'help')) {
    io.stdout.write(help);
    return 0;
  }
  const [action, target, ...more] = flags.positionals;
  if (action !== 'push' || target === undefined || more.length > 0) {
    throw usageError(
      'The command is: sandhaven images push REGISTRY[/PATH].',
      'See sandhaven images --help.',
    );
  }
  const chosen = choose(flags);
  const references = chosen.map((name) => referenceOf(target, name, flagValue(flags, 'tag') ?? version));
  const registry = references[0]?.registry ?? '';
  const credential = await credentialFor(registry, flags, io);
  const json = flagIsSet(flags, 'json');
  const results: Result[] = [];
  for (const [index, reference] of references.entries()) {
    const result = await push(chosen[index] ?? '', reference, credential, flags, io);
    results.push(result);
    if (!json) io.stdout.write(`${result.pinned}\n`);
  }
  if (json) io.stdout.write(`${JSON.stringify({ images: results.map(asJson) })}\n`);
  return 0;
}

async function push(
  name: string,
  { registry, repository, tag }: ImageReference,
  credential: Account | null,
  flags: ParsedFlags,
  io: CliIo,
): Promise<Result> {
  const line = progressLine(io);
  const message = `${name}:`;
  try {
    const pushed = await pushImage({
      layout: join(flagValue(flags, 'from') ?? dist, `${name}.oci`),
      ...{ registry, repository, tag: tag ?? version, credential },
      plainHttp: flagIsSet(flags, 'plain-http'),
      signal: io.signal,
      progress: (done, total) => line.show({ message, done, total }),
    });
    const repositoryName = `${registry}/${repository}`;
    return {
      ...pushed,
      name,
      reference: `${repositoryName}:${tag}`,
      pinned: `${repositoryName}@${pushed.digest}`,
    };
  } finally {
    line.clear();
  }
}

function choose(flags: ParsedFlags): string[] {
  const only = flags.values.get('only');
  const unknown = only?.find((name) => !names.includes(name));
  if (unknown !== undefined) {
    throw usageError(`There is no image '${unknown}'.`, `The images are ${names.join(', ')}.`);
  }
  return only === undefined ? ofCluster : names.filter((name) => only.includes(name));
}

/** Checks the whole name by the grammar of registries before anything is sent. */
function referenceOf(target: string, name: string, tag: string): ImageReference {
  const [registry = ''] = target.split('/');
  if (!isRegistryName(registry)) {
    throw usageError(
      `'${registry}' is not a registry's name.`,
      'Begin with a host, such as registry.example.com/team.',
    );
  }
  return parseReference(`${target.replace(/\/$/, '')}/${name}:${tag}`);
}

async function credentialFor(
  registry: string,
  flags: ParsedFlags,
  { env, stdin }: CliIo,
): Promise<Account | null> {
  const username = flagValue(flags, 'username');
  const variable = flagValue(flags, 'password-env');
  const typed = flagIsSet(flags, 'password-stdin');
  if (username === undefined) {
    if (!typed && variable === undefined) return dockerCredential(registry, env);
    throw usageError('--username is missing.', 'Give it beside the password.');
  }
  if (typed === (variable !== undefined)) {
    throw usageError('The password is missing.', 'Give one of --password-stdin and --password-env NAME.');
  }
  const password = typed ? (await text(stdin)).replace(/\r?\n$/, '') : env[variable ?? ''];
  if (password) return { username, password };
  throw usageError('The password is empty.', 'Check its variable, or standard input.');
}

function asJson({ name, reference, pinned, digest, bytesSent, blobsSent, blobsThere }: Result) {
  return {
    ...{ name, reference, pinned, digest },
    ...{ bytes_sent: bytesSent, blobs_sent: blobsSent, blobs_there: blobsThere },
  };
}
