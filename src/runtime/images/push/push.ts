/**
 * Pushes an image to a registry by the OCI distribution protocol
 * (https://github.com/opencontainers/distribution-spec): blobs that it lacks, each in one piece, then the manifest. A
 * registry checks digests; an interrupted push leaves nothing that a tag names.
 */
import { SandhavenError } from '../../../model/errors.ts';
import type { Answer } from './exchange.ts';
import { type Blob, type LocalImage, readLocalImage } from './layout.ts';
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
