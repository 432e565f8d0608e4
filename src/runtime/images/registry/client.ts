/**
 * Client of registries: inspects and fetches images through skopeo, with the stored credentials of each registry and
 * none of the host's own. It has the host's network for registries that the operator named, and a gate for all others.
 */
import { setTimeout as sleep } from 'node:timers/promises';
import { canceled } from '../../../model/errors.ts';
import { limits } from '../../../model/limits.ts';
import { isNamedRegistry, type RegistryRules } from '../../../model/registries.ts';
import type { CredentialFiles } from './credential-files.ts';
import { exitError, notPublic, registryError } from './errors.ts';
import { behindGate, type Gates } from './gate.ts';
import { failureOf, type HelperOptions, type Helpers } from './helpers.ts';
import { formatReference } from './reference.ts';
import { type RemoteImage, resolveBy } from './resolve.ts';
import type { Source } from './sources.ts';

export interface RegistryDependencies {
  helpers: Helpers;
  credentials: CredentialFiles;
  rules: RegistryRules;
  gates: Gates;
}

export interface Asker {
  /** User or team that the image is for. */
  owner: string;
  signal: AbortSignal;
}

/**
 * Resolves the reference to its present image for this host's platform; fetches no layer. Fails with `not_found`,
 * `unavailable`, `too_large`, or `failed_precondition` (another platform, an unknown kind of manifest).
 */
export function resolve(parts: RegistryDependencies, source: Source, asker: Asker): Promise<RemoteImage> {
  return resolveBy((asked) => inspect(parts, asked, asker), source, asker.signal);
}

/**
 * Fetches an image into an OCI layout in `folder` (made here), except layers already in `blobs`; puts each fetched
 * layer there once it is whole. skopeo checks the digests.
 */
export async function fetchImage(
  parts: RegistryDependencies,
  source: Source,
  folder: string,
  { temporary, blobs, ...asker }: Asker & { temporary: string; blobs: string },
): Promise<void> {
  const { reference } = source;
  const args = (authFile: string | null) => [
    ...[
      `--tmpdir=${temporary}`,
      'copy',
      '--quiet',
      authFile ? `--src-authfile=${authFile}` : '--src-no-creds',
    ],
    `--src-tls-verify=${!reference.loopback}`,
    // Layers stay as they are: a layer compressed anew has another digest, and would be fetched again next time.
    ...['--dest-oci-accept-uncompressed-layers', `--dest-shared-blob-dir=${blobs}`],
    ...[`docker://${formatReference(reference)}`, `oci:${folder}:image`],
  ];
  const options = { ...asker, timeoutMs: limits.image.pullTimeoutMs };
  await parts.credentials.use(reference.registry, (authFile) =>
    skopeo(parts, source, args(authFile), { ...options, authFile }),
  );
}

function inspect(parts: RegistryDependencies, source: Source, asker: Asker): Promise<string> {
  const { reference, isMirror } = source;
  const timeoutMs = isMirror ? limits.registries.mirrorTimeoutMs : limits.image.registryTimeoutMs;
  return parts.credentials.use(reference.registry, (authFile) => {
    const who = authFile ? `--authfile=${authFile}` : '--no-creds';
    const tls = `--tls-verify=${!reference.loopback}`;
    const args = ['inspect', '--raw', who, tls, `docker://${formatReference(reference)}`];
    return retrying(asker.signal, () => skopeo(parts, source, args, { ...asker, timeoutMs, authFile }));
  });
}

type Run = Asker & Pick<HelperOptions, 'timeoutMs'> & { authFile: string | null };

async function skopeo(
  { helpers, gates, rules }: RegistryDependencies,
  { reference, isMirror }: Source,
  args: string[],
  { owner, authFile, ...options }: Run,
): Promise<string> {
  const withCredentials = authFile !== null;
  if (isMirror || withCredentials || isNamedRegistry(reference.registry, rules)) {
    return helpers.run('skopeo', args, { ...options, env: proxyVariables() }).catch((error: unknown) => {
      throw registryError(error, reference, withCredentials);
    });
  }
  // Loopback would be dialled past the gate, into a namespace where it is another.
  if (reference.loopback) throw notPublic(reference);
  return behindGate(gates, { owner, signal: options.signal }, ({ command: [program, ...before], refused }) =>
    helpers.run(program, [...before, 'skopeo', ...args], options).catch((error: unknown) => {
      throw exitError(refused(), reference) ?? registryError(error, reference, false);
    }),
  );
}

/** Proxies that the service's environment names, in both spellings: skopeo is the one helper that uses the network. */
function proxyVariables(): Record<string, string> {
  const names = ['http_proxy', 'https_proxy', 'no_proxy', 'all_proxy'];
  const given = names
    .flatMap((name) => [name, name.toUpperCase()])
    .map((name) => [name, process.env[name]] as const);
  return Object.fromEntries(given.filter((pair): pair is [string, string] => Boolean(pair[1])));
}

/**
 * Server errors and broken connections; not refused connections and unknown names. skopeo takes a registry whose first answer is
 * an error for one of API version 1.
 */
const passing =
  /\b(status|code|received unexpected HTTP)[^\n]{0,40}\b5\d\d\b|: 5\d\d [A-Z]|timeout|timed out|\bEOF\b|reset by peer|broken pipe|connection closed|V1 container registry/i;

/** Repeats after transient failures, with a pause that doubles. Fails with the last error. */
export async function retrying<T>(signal: AbortSignal, work: () => Promise<T>): Promise<T> {
  for (let attempt = 1; ; attempt++) {
    try {
      return await work();
    } catch (error) {
      if (signal.aborted || attempt >= limits.image.attempts || !isPassing(error)) throw error;
    }
    const delayMs = limits.image.retryDelayMs * 2 ** (attempt - 1);
    await sleep(delayMs, undefined, { signal }).catch(() => {
      throw canceled();
    });
  }
}

function isPassing(error: unknown): boolean {
  const said = failureOf(error)?.stderr ?? (error instanceof Error ? failureOf(error.cause)?.stderr : null);
  return said !== null && said !== undefined && passing.test(said);
}
