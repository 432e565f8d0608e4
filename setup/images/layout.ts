/**
 * Writes one image as an OCI image layout: a folder that skopeo, containerd and `sandhaven images push` read.
 *
 * Invariant: a layout under its final name is whole, since it is renamed into place last.
 */
import { createHash } from 'node:crypto';
import { chmod, mkdir, mkdtemp, readFile, rename, rm, writeFile } from 'node:fs/promises';
import { arch } from 'node:os';
import { basename, dirname, join } from 'node:path';
import { type Descriptor, type Layer, packLayer } from './layer.ts';

/** The `config` of an OCI image, with the capitals of its specification. */
export interface ImageSettings {
  User?: string;
  Env?: string[];
  Entrypoint?: string[];
  Cmd?: string[];
  WorkingDir?: string;
  StopSignal?: string;
  ExposedPorts?: Record<string, object>;
  Volumes?: Record<string, object>;
  Labels?: Record<string, string>;
}

export interface ImageContents {
  /** Folders, lowest first. */
  layers: string[];
  settings: ImageSettings;
  /** Seconds since 1970 at which the image counts as made. */
  epoch: number;
  /** Files keep their own times in place of `epoch`. */
  ownTimes?: boolean;
  /** Identifies what the image was made of, for a later build that finds it made already. */
  source: string;
  tag: string;
}

export interface WrittenImage {
  digest: string;
  /** Size of all layers, as a registry stores them. */
  bytes: number;
}

const SOURCE = 'sandhaven.source';
const OCI = 'application/vnd.oci.image';

/** Replaces the layout in `folder`. */
export async function writeLayout(folder: string, contents: ImageContents): Promise<WrittenImage> {
  await mkdir(dirname(folder), { recursive: true });
  const work = await mkdtemp(join(dirname(folder), `.${basename(folder)}-`));
  try {
    const written = await fill(work, contents);
    await chmod(work, 0o755);
    await rm(folder, { recursive: true, force: true });
    await rename(work, folder);
    return written;
  } finally {
    await rm(work, { recursive: true, force: true });
  }
}

/** Returns true for a layout that was made of this source, under this tag. */
export async function isMadeOf(folder: string, source: string, tag: string): Promise<boolean> {
  const text = await readFile(join(folder, 'index.json'), 'utf8').catch(() => null);
  if (text === null) return false;
  const { annotations } = JSON.parse(text).manifests[0];
  return annotations[SOURCE] === source && annotations['org.opencontainers.image.ref.name'] === tag;
}

async function fill(work: string, contents: ImageContents): Promise<WrittenImage> {
  const { layers: folders, settings, epoch, ownTimes = false, source, tag } = contents;
  const blobs = join(work, 'blobs/sha256');
  await mkdir(blobs, { recursive: true });
  const layers: Layer[] = [];
  for (const root of folders) layers.push(await packLayer(root, blobs, ownTimes ? null : epoch));
  const created = new Date(epoch * 1000).toISOString();
  const config = await putJson(blobs, 'config.v1+json', {
    created,
    architecture: architecture(),
    os: 'linux',
    config: settings,
    rootfs: { type: 'layers', diff_ids: layers.map(({ diffId }) => diffId) },
    history: layers.map(() => ({ created, created_by: 'sandhaven' })),
  });
  const manifest = await putJson(blobs, 'manifest.v1+json', {
    schemaVersion: 2,
    mediaType: `${OCI}.manifest.v1+json`,
    config,
    layers: layers.map(({ diffId: _, ...layer }) => layer),
    annotations: { 'org.opencontainers.image.created': created, ...settings.Labels },
  });
  const annotations = { 'org.opencontainers.image.ref.name': tag, [SOURCE]: source };
  const platform = { os: 'linux', architecture: architecture() };
  const index = {
    schemaVersion: 2,
    mediaType: `${OCI}.index.v1+json`,
    manifests: [{ ...manifest, platform, annotations }],
  };
  await writeFile(join(work, 'index.json'), JSON.stringify(index));
  await writeFile(join(work, 'oci-layout'), JSON.stringify({ imageLayoutVersion: '1.0.0' }));
  return { digest: manifest.digest, bytes: layers.reduce((sum, { size }) => sum + size, 0) };
}

async function putJson(blobs: string, type: string, value: object): Promise<Descriptor> {
  const data = JSON.stringify(value);
  const digest = createHash('sha256').update(data).digest('hex');
  await writeFile(join(blobs, digest), data);
  return { mediaType: `${OCI}.${type}`, digest: `sha256:${digest}`, size: Buffer.byteLength(data) };
}

/** Returns this machine's architecture under its name in images. */
function architecture(): string {
  return arch() === 'x64' ? 'amd64' : arch();
}
