/** Asks registries and fetches from them, by skopeo, without any credentials of the machine's. */
import { createHash } from 'node:crypto';
import { notFound, SandhavenError } from '../../model/errors.ts';
import { limits } from '../../model/limits.ts';
import { failureOf, type Helpers } from './helpers.ts';
import { type Manifest, parseManifest, unusable } from './manifest.ts';
import { proxyVariables } from './proxy.ts';
import { formatReference, type ImageReference } from './reference.ts';
import { retrying } from './retry.ts';

export interface RemoteImage {
  /** Names exactly these contents. */
  reference: ImageReference;
  /** Of the manifest for this machine's platform: hex digits alone. */
  digest: string;
  compressedBytes: number;
  /** `sha256:` and hex digits, lowest first. */
  layers: string[];
}

/**
 * What this reference means now, for this machine's platform; nothing is fetched. Fails with `not_found`,
 * `unavailable`, `too_large`, or `failed_precondition` (another platform, an unknown kind of manifest).
 */
export async function resolve(
  helpers: Helpers,
  reference: ImageReference,
  signal: AbortSignal,
): Promise<RemoteImage> {
  const name = formatReference(reference);
  const first = await inspect(helpers, reference, signal);
  const parsed = parseManifest(first, name);
  if ('manifest' in parsed) return describe(reference, first, parsed.manifest);
  const exact = { ...reference, tag: null, digest: parsed.platformDigest };
  const second = await inspect(helpers, exact, signal);
  const inner = parseManifest(second, name);
  if (!('manifest' in inner)) throw unusable(name, 'its manifest is a list of lists');
  return describe(exact, second, inner.manifest);
}

/**
 * Fetches into an OCI layout in `folder` (made here), all but the layers that are in `blobs` already; those fetched
 * are put there one by one, each once it is whole. Digests are checked by skopeo.
 */
export async function fetchImage(
  helpers: Helpers,
  image: RemoteImage,
  folder: string,
  { signal, temporary, blobs }: { signal: AbortSignal; temporary: string; blobs: string },
): Promise<void> {
  const args = [
    ...[`--tmpdir=${temporary}`, 'copy', '--quiet', '--src-no-creds'],
    `--src-tls-verify=${!image.reference.loopback}`,
    // As they are: what is compressed anew has another digest, and would be fetched again the next time.
    ...['--dest-oci-accept-uncompressed-layers', `--dest-shared-blob-dir=${blobs}`],
    ...[`docker://${formatReference(image.reference)}`, `oci:${folder}:image`],
  ];
  try {
    await helpers.run('skopeo', args, {
      timeoutMs: limits.image.pullTimeoutMs,
      signal,
      env: proxyVariables(),
    });
  } catch (error) {
    throw registryError(error, image.reference);
  }
}

async function inspect(helpers: Helpers, reference: ImageReference, signal: AbortSignal): Promise<string> {
  const tls = `--tls-verify=${!reference.loopback}`;
  const args = ['inspect', '--raw', '--no-creds', tls, `docker://${formatReference(reference)}`];
  try {
    const options = { timeoutMs: limits.image.registryTimeoutMs, signal, env: proxyVariables() };
    return await retrying(signal, () => helpers.run('skopeo', args, options));
  } catch (error) {
    throw registryError(error, reference);
  }
}

function describe(reference: ImageReference, text: string, { layers }: Manifest): RemoteImage {
  const digest = createHash('sha256').update(text).digest('hex');
  if (reference.digest !== null && reference.digest !== `sha256:${digest}`) {
    throw unusable(formatReference(reference), 'its manifest is not the one that its digest names');
  }
  const compressedBytes = layers.reduce((sum, layer) => sum + layer.size, 0);
  if (compressedBytes > limits.image.compressedBytes) {
    throw new SandhavenError(
      'too_large',
      `The image ${formatReference(reference)} has ${compressedBytes} bytes; at most ${limits.image.compressedBytes} are pulled.`,
      { parameter: 'image', hint: 'Choose a smaller image.' },
    );
  }
  return {
    reference: { ...reference, tag: null, digest: `sha256:${digest}` },
    digest,
    compressedBytes,
    layers: layers.map((layer) => layer.digest),
  };
}

const absent =
  /name unknown|repository name not known|(reading|fetching) manifest .*(unknown|not found|404)/i;
const refused = /unauthorized|authentication required|denied|status (code )?40[13]/i;

const untrue = /digest did not match|does not match (the )?(expected )?digest|digest mismatch/i;

/** What skopeo said stays in the cause: it may hold addresses of the operator's network. */
function registryError(error: unknown, reference: ImageReference): unknown {
  if (error instanceof SandhavenError) return error;
  const said = failureOf(error)?.stderr ?? null;
  const name = formatReference(reference);
  if (said !== null && absent.test(said)) {
    return notFound('image', `There is no image ${name}.`, 'Check its name and tag.');
  }
  if (said !== null && refused.test(said)) {
    return notFound(
      'image',
      `There is no image ${name} that can be pulled without credentials.`,
      'Check its name; private images cannot be pulled.',
    );
  }
  if (said !== null && untrue.test(said)) {
    return new SandhavenError(
      'unavailable',
      `The registry ${reference.registry} sends something else for ${name} than what the image is made of.`,
      { parameter: 'image', hint: 'Choose another image or registry.', retryable: false },
      error,
    );
  }
  return new SandhavenError(
    'unavailable',
    `The registry ${reference.registry} cannot be reached, or does not answer as a registry does.`,
    { parameter: 'image', hint: 'Check the name of the registry, then try again.', retryable: true },
    error,
  );
}
