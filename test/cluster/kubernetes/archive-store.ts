/** A bucket for the archives of a test cluster, and what a test does to its objects behind the service's back. */
import { createHash } from 'node:crypto';
import type { RemotePlace } from '../../../src/runtime/archives/places.ts';
import { openS3 } from '../../../src/runtime/archives/s3/open.ts';
import type { KubernetesSettings } from '../../../src/runtime/kubernetes/client/settings.ts';
import type { Cluster } from '../cluster.ts';
import { type ClusterS3, s3For } from '../companions/companions.ts';

export const BUCKET = 'archives';

export interface ArchiveStore {
  s3: ClusterS3;
  /** Opens the place of an instance. */
  open(settings: KubernetesSettings): Promise<RemotePlace>;
  /** Keys of a sandbox's archives. */
  keysOf(id: string): string[];
  damage(id: string): void;
  /** Gives each of two sandboxes the bytes of the other's archive. */
  exchange(one: string, other: string): Promise<void>;
}

export async function storeFor(cluster: Cluster): Promise<ArchiveStore> {
  const s3 = await s3For(cluster);
  await s3.makeBucket(BUCKET);
  const keysOf = (id: string) => s3.keys(BUCKET).filter((key) => key.includes(`/${id}/`));

  function keyOf(id: string): string {
    const [key, ...others] = keysOf(id);
    if (key === undefined || others.length > 0) throw new Error(`not one archive of ${id}`);
    return key;
  }

  async function bytesOf(id: string): Promise<Buffer> {
    const answer = await s3.client.getObject({ bucket: BUCKET, key: keyOf(id) }, {}, undefined);
    const pieces: Buffer[] = [];
    for await (const piece of answer) pieces.push(piece as Buffer);
    return Buffer.concat(pieces);
  }

  async function put(id: string, bytes: Buffer): Promise<void> {
    await s3.client.putObject({ bucket: BUCKET, key: keyOf(id) }, bodyOf(bytes), undefined);
  }

  return {
    s3,
    keysOf,
    open: ({ instanceId }) => openS3({ s3: s3.options, folder: { bucket: BUCKET, prefix: '' } }, instanceId),
    damage: (id) => s3.damage(BUCKET, keyOf(id)),
    async exchange(one, other) {
      const [first, second] = await Promise.all([bytesOf(one), bytesOf(other)]);
      await put(one, second);
      await put(other, first);
    },
  };
}

function bodyOf(bytes: Buffer): { pieces: Buffer[]; sizeBytes: number; sha256: string } {
  return {
    pieces: [bytes],
    sizeBytes: bytes.length,
    sha256: createHash('sha256').update(bytes).digest('hex'),
  };
}
