/**
 * Pushes an image to a registry by the OCI distribution protocol
 * (https://github.com/opencontainers/distribution-spec): blobs that it lacks, each in one piece, then the manifest. A
 * registry checks digests; an interrupted push leaves nothing that a tag names.
 */
import { createHash } from 'node:crypto';
import { readFile, stat } from 'node:fs/promises';
import { join } from 'node:path';
import { z } from 'zod';
import { SandhavenError } from '../../../model/errors.ts';
import { limits } from '../../../model/limits.ts';
import type { Answer } from './exchange.ts';
import { RegistrySession, type SessionOptions } from './session.ts';

export interface PushOptions extends SessionOptions {
  /** Folder of an OCI layout. */
  layout: string;
  tag: string;
  /** Bytes of all blobs that are in the registry, and of all there are. */
  progress(done: number, total: number): void;
}

export interface Pushed {
  /** Of the manifest. */
  digest: string;
  bytesSent: number;
  blobsSent: number;
  blobsThere: number;
}

/** Rejects with `permission_denied` when the registry refuses, and `unavailable` when it does not answer. */
export async function pushImage(options: PushOptions): Promise<Pushed> {
  const { layout, tag, registry, progress } = options;
  const image = await readLocalImage(layout);
  const session = new RegistrySession(options);
  const total = image.blobs.reduce((sum, { size }) => sum + size, 0);
  const pushed = { digest: image.manifest.digest, bytesSent: 0, blobsSent: 0, blobsThere: 0 };
  let done = 0;
  for (const blob of image.blobs) {
    if (await isThere(session, blob, registry)) pushed.blobsThere += 1;
    else {
      await upload(session, blob, registry, (sent) => progress(done + Math.min(sent, blob.size), total));
      pushed.blobsSent += 1;
      pushed.bytesSent += blob.size;
    }
    done += blob.size;
    progress(done, total);
  }
  await putManifest(session, image, tag, registry);
  return pushed;
}

async function isThere(session: RegistrySession, { digest }: Blob, registry: string): Promise<boolean> {
  const answer = await session.request(session.address(`./blobs/${digest}`), { method: 'HEAD' });
  if (answer.status === 200 || answer.status === 404) return answer.status === 200;
  // A storage elsewhere that the registry redirects to has it.
  if (answer.status === 307 || answer.status === 302) return true;
  throw refused(registry, answer);
}

async function upload(
  session: RegistrySession,
  { digest, size, file }: Blob,
  registry: string,
  progress: (sent: number) => void,
): Promise<void> {
  const begun = await session.request(session.address('./blobs/uploads/'), { method: 'POST' });
  const { location } = begun.headers;
  if (begun.status !== 202 || location === undefined) throw refused(registry, begun);
  const target = session.address(location);
  target.searchParams.set('digest', digest);
  let sent = 0;
  const answer = await session.request(target, {
    method: 'PUT',
    headers: { 'content-type': 'application/octet-stream' },
    body: { file, size },
    sent: (bytes) => {
      sent += bytes;
      progress(sent);
    },
  });
  if (answer.status !== 201) throw refused(registry, answer);
}

async function putManifest(
  session: RegistrySession,
  { manifest }: LocalImage,
  tag: string,
  registry: string,
): Promise<void> {
  const answer = await session.request(session.address(`./manifests/${tag}`), {
    method: 'PUT',
    headers: { 'content-type': manifest.mediaType },
    body: manifest.bytes,
  });
  if (answer.status !== 201) throw refused(registry, answer);
  const digest = answer.headers['docker-content-digest'];
  if (digest === undefined || digest === manifest.digest) return;
  throw new SandhavenError(
    'unavailable',
    `The registry ${registry} stored another manifest than it was sent.`,
  );
}

/** Leaves the registry's own text out: it may quote the request. */
function refused(registry: string, { status }: Answer): SandhavenError {
  if (status === 401 || status === 403) {
    return new SandhavenError(
      'permission_denied',
      `The registry ${registry} refuses the push (status ${status}).`,
      {
        hint: 'Give --username with a password, or sign in with a program that writes ~/.docker/config.json.',
      },
    );
  }
  return new SandhavenError(
    status === 413 ? 'too_large' : 'unavailable',
    `The registry ${registry} does not take the image (status ${status}).`,
    {
      hint: 'Check the name of the repository; some registries must have it made first.',
      retryable: status >= 500,
    },
  );
}

// Reads an OCI image layout of one image: its manifest, and the files of its blobs.

export interface Blob {
  /** `sha256:` and 64 hexadecimal digits. */
  digest: string;
  size: number;
  file: string;
}

export interface LocalImage {
  manifest: { digest: string; mediaType: string; bytes: Buffer };
  /** Layers, then the configuration; each digest once. */
  blobs: Blob[];
}

const descriptor = z.object({
  mediaType: z.string(),
  digest: z.string().regex(/^sha256:[0-9a-f]{64}$/),
  size: z.number().int().nonnegative(),
});
const indexSchema = z.object({ manifests: z.array(descriptor).length(1) });
const manifestSchema = z.object({
  config: descriptor,
  layers: z.array(descriptor).max(limits.image.layers),
});

/** Fails with `failed_precondition` for a folder that holds no single image, or lacks one of its blobs. */
export async function readLocalImage(folder: string): Promise<LocalImage> {
  const index = indexSchema.safeParse(await readJson(join(folder, 'index.json'), folder));
  const [found] = index.data?.manifests ?? [];
  if (!found) throw unusable(folder, 'its index does not name one image');
  const bytes = await readSmall(blobFile(folder, found.digest), folder);
  if (digestOf(bytes) !== found.digest) throw unusable(folder, 'its manifest does not match its digest');
  const manifest = manifestSchema.safeParse(parse(bytes, folder));
  if (!manifest.success) throw unusable(folder, 'its manifest cannot be understood');
  const { config, layers } = manifest.data;
  const named = new Map([...layers, config].map((blob) => [blob.digest, blob]));
  const blobs = [...named.values()].map(({ digest, size }) => ({
    ...{ digest, size },
    file: blobFile(folder, digest),
  }));
  for (const { file, size } of blobs) {
    const there = await stat(file).catch(() => null);
    if (there?.size !== size) throw unusable(folder, 'a layer is missing, or not as long as it should be');
  }
  return { manifest: { digest: found.digest, mediaType: found.mediaType, bytes }, blobs };
}

function blobFile(folder: string, digest: string): string {
  return join(folder, 'blobs/sha256', digest.replace('sha256:', ''));
}

async function readJson(file: string, folder: string): Promise<unknown> {
  return parse(await readSmall(file, folder), folder);
}

async function readSmall(file: string, folder: string): Promise<Buffer> {
  const size = (await stat(file).catch(() => null))?.size;
  if (size === undefined) throw unusable(folder, 'it is not there, or is not whole');
  if (size > limits.image.configBytes) throw unusable(folder, 'one of its documents is too long');
  return readFile(file);
}

function parse(bytes: Buffer, folder: string): unknown {
  try {
    return JSON.parse(bytes.toString());
  } catch {
    throw unusable(folder, 'one of its documents is not JSON');
  }
}

function unusable(folder: string, why: string): SandhavenError {
  return new SandhavenError('failed_precondition', `The image in ${folder} cannot be pushed: ${why}.`, {
    hint: 'Make it with `make images`, or name another folder with --from.',
  });
}

function digestOf(bytes: Buffer): string {
  return `sha256:${createHash('sha256').update(bytes).digest('hex')}`;
}
