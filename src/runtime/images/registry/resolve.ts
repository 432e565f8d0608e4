/** Resolves a reference to its present image for this host's platform, by whatever way manifests are asked for. */
import { createHash } from 'node:crypto';
import { SandhavenError } from '../../../model/errors.ts';
import { limits } from '../../../model/limits.ts';
import { type Manifest, parseManifest, unusable } from './manifest.ts';
import { formatReference, type ImageReference } from './reference.ts';
import type { Source } from './sources.ts';

export interface RemoteImage {
  /** Digest of the manifest for this host's platform: hex digits alone. */
  digest: string;
  compressedBytes: number;
  /** `sha256:` and hex digits, lowest first. */
  layers: string[];
  /** Digest of its configuration: `sha256:` and hex digits. */
  config: string;
}

/** Returns the manifest, or list of manifests, as the source sends it. */
export type Inspect = (source: Source, signal: AbortSignal) => Promise<string>;

/**
 * Fetches no layer. Fails as `inspect` does, and with `too_large` or `failed_precondition` (another platform, an unknown
 * kind of manifest).
 */
export async function resolveBy(inspect: Inspect, source: Source, signal: AbortSignal): Promise<RemoteImage> {
  const { reference } = source;
  const name = formatReference(reference);
  const first = await inspect(source, signal);
  const parsed = parseManifest(first, name);
  assertNamed(reference, first);
  if ('manifest' in parsed) return describe(reference, first, parsed.manifest);
  const exact = { ...reference, tag: null, digest: parsed.platformDigest };
  const second = await inspect({ ...source, reference: exact }, signal);
  const inner = parseManifest(second, name);
  assertNamed(exact, second);
  if (!('manifest' in inner)) throw unusable(name, 'its manifest is a list of lists');
  return describe(exact, second, inner.manifest);
}

/** Checks the manifest against the reference's digest, whichever server sent it. */
function assertNamed(reference: ImageReference, text: string): void {
  if (reference.digest === null || reference.digest === `sha256:${digestOf(text)}`) return;
  throw unusable(formatReference(reference), 'its manifest does not match its digest');
}

function describe(reference: ImageReference, text: string, { layers, config }: Manifest): RemoteImage {
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
  return { digest, compressedBytes, layers: layers.map((layer) => layer.digest), config: config.digest };
}

export function digestOf(text: string): string {
  return createHash('sha256').update(text).digest('hex');
}
