/**
 * Makes the root file system of an image from its layers with native/unpack: a program that can reach nothing but the
 * folder that it fills, stops at the limits, and checks every layer's digests while it reads it.
 */
import { createHash } from 'node:crypto';
import { mkdir, readFile, stat } from 'node:fs/promises';
import { join } from 'node:path';
import { SandhavenError } from '../../model/errors.ts';
import { limits } from '../../model/limits.ts';
import type { Blobs } from './blobs.ts';
import { failureOf, type Helpers } from './registry/helpers.ts';
import { parseConfig, parseLayout, parseManifest, unusable } from './registry/manifest.ts';
import type { ImageConfig } from './registry/record.ts';

const { unpackedBytes, entries, fileBytes, depth, ratio, ratioFreeBytes, configBytes } = limits.image;

/** Layer of an image; lists begin with the lowest. */
export interface Layer {
  /** `sha256:` and hex digits of the stored layer; `diffId` of the decompressed one. */
  digest: string;
  diffId: string;
}

export interface UnpackLimits {
  bytes: number;
  entries: number;
  fileBytes: number;
}

export const defaultUnpackLimits: UnpackLimits = { bytes: unpackedBytes, entries, fileBytes };

/** Exit statuses of the program (native/unpack/src/failure.rs). */
const status = { tooLarge: 10, unusable: 11, noSpace: 12, wrongDigest: 13 };

/** A blob in `blobs` does not match its digest. */
export class DamagedBlob extends Error {}

/** Reads configuration and layers of the image in an OCI layout that skopeo wrote; its blobs lie elsewhere. */
export async function readConfig(
  layout: string,
  blobs: Blobs,
  name: string,
): Promise<{ config: ImageConfig; layers: Layer[] }> {
  const manifestDigest = parseLayout(await readBounded(join(layout, 'index.json'), name), name);
  const parsed = parseManifest(await readBlob(blobs, manifestDigest, name), name);
  if (!('manifest' in parsed)) throw unusable(name, 'its manifest is a list of lists');
  const configDigest = parsed.manifest.config.digest;
  const { config, diffIds } = parseConfig(await readBlob(blobs, configDigest, name), name);
  if (diffIds.length !== parsed.manifest.layers.length) {
    throw unusable(name, 'its configuration and its manifest differ in the number of layers');
  }
  const layers = parsed.manifest.layers.map(({ digest }, at) => ({ digest, diffId: diffIds[at] ?? '' }));
  return { config, layers };
}

/**
 * Unpacks the layers into `rootfs`, which it makes; all of it is on disk when this resolves. Fails with `too_large`,
 * `failed_precondition`, `resource_exhausted`, or `DamagedBlob`.
 */
export async function unpack(
  { helpers, unpackPath, blobs }: { helpers: Helpers; unpackPath: string; blobs: Blobs },
  request: { layers: Layer[]; rootfs: string; name: string; bounds: UnpackLimits; signal: AbortSignal },
  onBytes: (bytes: number) => void,
): Promise<void> {
  const { layers, rootfs, name, bounds, signal } = request;
  const hex = (digest: string) => digest.replace(/^sha256:/, '');
  await mkdir(rootfs, { mode: 0o755 });
  const numbers = {
    bytes: bounds.bytes,
    entries: bounds.entries,
    'file-bytes': bounds.fileBytes,
    depth,
    ratio,
    'ratio-free': ratioFreeBytes,
    reserve: limits.hostReserveDiskBytes,
  };
  const args = [
    ...['--root', rootfs],
    ...Object.entries(numbers).flatMap(([flag, value]) => [`--${flag}`, String(value)]),
    ...layers.flatMap(({ digest, diffId }) => [
      '--layer',
      `${hex(digest)}:${hex(diffId)}:${blobs.path(digest)}`,
    ]),
  ];
  const onLine = (line: string): void => {
    const bytes = /^progress (\d+) \d+$/.exec(line)?.[1];
    if (bytes) onBytes(Number(bytes));
  };
  try {
    await helpers.run(unpackPath, args, { timeoutMs: limits.image.pullTimeoutMs, signal, onLine });
  } catch (error) {
    throw explained(error, name);
  }
}

/** Returns the bytes that `rootfs` takes on disk. */
export async function measure(helpers: Helpers, rootfs: string): Promise<number> {
  const args = ['--summarize', '--block-size=1', rootfs];
  return Number.parseInt(await helpers.run('du', args, { timeoutMs: limits.image.pullTimeoutMs }), 10);
}

async function readBlob(blobs: Blobs, digest: string, name: string): Promise<string> {
  const text = await readBounded(blobs.path(digest), name);
  const found = `sha256:${createHash('sha256').update(text).digest('hex')}`;
  if (found !== digest) throw new DamagedBlob('a description does not match its digest');
  return text;
}

async function readBounded(file: string, name: string): Promise<string> {
  if ((await stat(file)).size > configBytes) throw tooLarge(name, `a description over ${configBytes} bytes`);
  return readFile(file, 'utf8');
}

function explained(error: unknown, name: string): unknown {
  const failure = failureOf(error);
  if (!failure) return error;
  const said = failure.stderr.trim().slice(0, limits.image.failureChars);
  switch (failure.exitCode) {
    case status.tooLarge:
      return tooLarge(name, said);
    case status.unusable:
      return unusable(name, said);
    case status.noSpace:
      return noRoom();
    case status.wrongDigest:
      return new DamagedBlob(said);
    default:
      return error;
  }
}

export function noRoom(): SandhavenError {
  return new SandhavenError('resource_exhausted', 'The host has not enough free disk for this image.', {
    hint: 'Delete sandboxes that are no longer needed, or choose a smaller image.',
  });
}

function tooLarge(name: string, what: string): SandhavenError {
  return new SandhavenError('too_large', `The image ${name} has ${what}.`, {
    parameter: 'image',
    hint: 'Choose a smaller image.',
  });
}
