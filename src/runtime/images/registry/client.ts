/**
 * Client of registries: inspects and fetches images through skopeo, with the stored credentials of each registry and
 * none of the host's own. It has the host's network for registries that the operator named, and a gate for all others.
 */
import { limits } from '../../../model/limits.ts';
import { isNamedRegistry, type RegistryRules } from '../../../model/registry-rules.ts';
import type { CredentialFiles } from './credential-files.ts';
import { exitError, notPublic, registryError } from './errors.ts';
import { behindGate, type Gates } from './gate.ts';
import type { HelperOptions, Helpers } from './helpers.ts';
import { proxyVariables } from './proxy.ts';
import { formatReference } from './reference.ts';
import { type RemoteImage, resolveBy } from './resolve.ts';
import { retrying } from './retry.ts';
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
