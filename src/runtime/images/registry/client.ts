/**
 * Client of registries: inspects and fetches images through skopeo, with the stored credentials of each registry and
 * none of the host's own.
 */
import { limits } from '../../../model/limits.ts';
import type { Helpers } from '../helpers.ts';
import type { CredentialFiles } from './credential-files.ts';
import { registryError } from './errors.ts';
import { proxyVariables } from './proxy.ts';
import { formatReference, type ImageReference } from './reference.ts';
import { type RemoteImage, resolveBy } from './resolve.ts';
import { retrying } from './retry.ts';
import type { Source } from './sources.ts';

export interface RegistryDependencies {
  helpers: Helpers;
  credentials: CredentialFiles;
}

/**
 * Resolves the reference to its present image for this host's platform; fetches no layer. Fails with `not_found`,
 * `unavailable`, `too_large`, or `failed_precondition` (another platform, an unknown kind of manifest).
 */
export function resolve(
  parts: RegistryDependencies,
  source: Source,
  signal: AbortSignal,
): Promise<RemoteImage> {
  return resolveBy((asked) => inspect(parts, asked, signal), source, signal);
}

/**
 * Fetches an image into an OCI layout in `folder` (made here), except layers already in `blobs`; puts each fetched
 * layer there once it is whole. skopeo checks the digests.
 */
export async function fetchImage(
  { helpers, credentials }: RegistryDependencies,
  reference: ImageReference,
  folder: string,
  { signal, temporary, blobs }: { signal: AbortSignal; temporary: string; blobs: string },
): Promise<void> {
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
  const options = { timeoutMs: limits.image.pullTimeoutMs, signal, env: proxyVariables() };
  await credentials.use(reference.registry, async (authFile) => {
    try {
      await helpers.run('skopeo', args(authFile), options);
    } catch (error) {
      throw registryError(error, reference, authFile !== null);
    }
  });
}

function inspect(
  { helpers, credentials }: RegistryDependencies,
  { reference, isMirror }: Source,
  signal: AbortSignal,
): Promise<string> {
  const timeoutMs = isMirror ? limits.registries.mirrorTimeoutMs : limits.image.registryTimeoutMs;
  const options = { timeoutMs, signal, env: proxyVariables() };
  return credentials.use(reference.registry, async (authFile) => {
    const who = authFile ? `--authfile=${authFile}` : '--no-creds';
    const tls = `--tls-verify=${!reference.loopback}`;
    const args = ['inspect', '--raw', who, tls, `docker://${formatReference(reference)}`];
    try {
      return await retrying(signal, () => helpers.run('skopeo', args, options));
    } catch (error) {
      throw registryError(error, reference, authFile !== null);
    }
  });
}
