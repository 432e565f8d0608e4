/**
 * Client of registries: inspects and fetches images through skopeo, with the stored credentials of each registry and
 * none of the host's own.
 */
import { createHash } from 'node:crypto';
import { SandhavenError } from '../../../model/errors.ts';
import { limits } from '../../../model/limits.ts';
import type { Helpers } from '../helpers.ts';
import type { CredentialFiles } from './credential-files.ts';
import { registryError } from './errors.ts';
import { type Manifest, parseManifest, unusable } from './manifest.ts';
import { proxyVariables } from './proxy.ts';
import { formatReference, type ImageReference } from './reference.ts';
import { retrying } from './retry.ts';
import type { Source } from './sources.ts';

export interface RegistryDependencies {
  helpers: Helpers;
  credentials: CredentialFiles;
}

export interface RemoteImage {
  /** Digest of the manifest for this host's platform: hex digits alone. */
  digest: string;
  compressedBytes: number;
  /** `sha256:` and hex digits, lowest first. */
  layers: string[];
}

/**
 * Resolves the reference to its present image for this host's platform; fetches no layer. Fails with `not_found`,
 * `unavailable`, `too_large`, or `failed_precondition` (another platform, an unknown kind of manifest).
 */
export async function resolve(
  parts: RegistryDependencies,
  source: Source,
  signal: AbortSignal,
): Promise<RemoteImage> {
  const { reference } = source;
  const name = formatReference(reference);
  const first = await inspect(parts, source, signal);
  const parsed = parseManifest(first, name);
  assertNamed(reference, first);
  if ('manifest' in parsed) return describe(reference, first, parsed.manifest);
  const exact = { ...reference, tag: null, digest: parsed.platformDigest };
  const second = await inspect(parts, { ...source, reference: exact }, signal);
  const inner = parseManifest(second, name);
  assertNamed(exact, second);
  if (!('manifest' in inner)) throw unusable(name, 'its manifest is a list of lists');
  return describe(exact, second, inner.manifest);
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

/** Checks the manifest against the reference's digest, whichever server sent it. */
function assertNamed(reference: ImageReference, text: string): void {
  if (reference.digest === null || reference.digest === `sha256:${digestOf(text)}`) return;
  throw unusable(formatReference(reference), 'its manifest does not match its digest');
}

function describe(reference: ImageReference, text: string, { layers }: Manifest): RemoteImage {
  const digest = digestOf(text);
  if (layers.some(({ urls }) => urls && urls.length > 0)) {
    throw unusable(formatReference(reference), 'it has layers that are kept elsewhere than in its registry');
  }
  const compressedBytes = layers.reduce((sum, layer) => sum + layer.size, 0);
  if (compressedBytes > limits.image.compressedBytes) {
    throw new SandhavenError(
      'too_large',
      `The image ${formatReference(reference)} has ${compressedBytes} bytes; at most ${limits.image.compressedBytes} are pulled.`,
      { parameter: 'image', hint: 'Choose a smaller image.' },
    );
  }
  return { digest, compressedBytes, layers: layers.map((layer) => layer.digest) };
}

function digestOf(text: string): string {
  return createHash('sha256').update(text).digest('hex');
}
