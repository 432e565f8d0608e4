/** Claims of the growing class get more space when their request is raised; those of the default class keep theirs. */
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import { type Cluster, startCluster } from '../cluster.ts';
import { pushBusybox } from '../images.ts';
import { deletePod, inPod, runPod } from '../pods.ts';
import { GROWING_STORAGE_CLASS, STORAGE_CLASS } from '../volumes.ts';

const CLAIMS = '/api/v1/namespaces/default/persistentvolumeclaims';

let cluster: Cluster;
let image: string;

beforeAll(async () => {
  cluster = await startCluster();
  image = pushBusybox(cluster.registry);
});
afterAll(() => cluster?.stop());
afterEach(({ task }) => {
  if (task.result?.state === 'fail') console.info(cluster.logs());
});

const request = (storage: string) => ({ resources: { requests: { storage } } });

async function createClaim(name: string, storageClassName: string): Promise<void> {
  const spec = { storageClassName, accessModes: ['ReadWriteOnce'], ...request('32Mi') };
  await cluster.api.create(CLAIMS, { metadata: { name }, spec });
}

function runWithDisk(name: string, claimName: string) {
  return runPod(cluster, name, {
    image,
    command: ['sleep', '100000'],
    container: { volumeMounts: [{ name: 'disk', mountPath: '/disk' }] },
    spec: { volumes: [{ name: 'disk', persistentVolumeClaim: { claimName } }] },
  });
}

/** In KiB, as the Pod sees it. */
function sizeOf(pod: string): number {
  return Number(inPod(cluster, pod, 'df -k /disk').split('\n').at(-1)?.split(/\s+/)[1]);
}

describe('a claim whose request is raised', () => {
  it('has a larger disk with the same files at its next Pod at the latest', async () => {
    await createClaim('growing', GROWING_STORAGE_CLASS);
    await runWithDisk('before', 'growing');
    inPod(cluster, 'before', 'echo kept >/disk/file');
    const small = sizeOf('before');
    expect(small).toBeLessThan(32 * 1024);
    await cluster.api.patch(`${CLAIMS}/growing`, { spec: request('96Mi') });
    const seen = await cluster.api.until(
      `${CLAIMS}/growing`,
      ({ status }) => status.capacity.storage === '96Mi' || status.conditions?.length > 0,
    );
    // Growing a disk in use takes CAP_SYS_RESOURCE, which this machine may lack.
    if (seen.status.capacity.storage === '32Mi') {
      expect(seen.status.conditions).toEqual([
        expect.objectContaining({ type: 'FileSystemResizePending', status: 'True' }),
      ]);
      expect([sizeOf('before'), inPod(cluster, 'before', 'cat /disk/file')]).toEqual([small, 'kept']);
    }

    await deletePod(cluster, 'before');
    await runWithDisk('after', 'growing');
    expect(inPod(cluster, 'after', 'cat /disk/file')).toBe('kept');
    expect(sizeOf('after')).toBeGreaterThan(80 * 1024);
    const claim = await cluster.api.until(
      `${CLAIMS}/growing`,
      ({ status }) => status.capacity.storage === '96Mi',
    );
    expect(claim.status.conditions ?? []).toEqual([]);
    const volume = await cluster.api.get(`/api/v1/persistentvolumes/${claim.spec.volumeName}`);
    expect(volume.spec.capacity).toEqual({ storage: '96Mi' });
  });

  it('grows at once while no Pod uses it', async () => {
    await deletePod(cluster, 'after');
    await cluster.api.patch(`${CLAIMS}/growing`, { spec: request('128Mi') });
    await cluster.api.until(`${CLAIMS}/growing`, ({ status }) => status.capacity.storage === '128Mi');
    await runWithDisk('third', 'growing');
    expect(sizeOf('third')).toBeGreaterThan(110 * 1024);
    await deletePod(cluster, 'third');
    await cluster.api.delete(`${CLAIMS}/growing`);
    await cluster.api.until('/api/v1/persistentvolumes', ({ items }) => items.length === 0);
  });

  it('is refused for the class that does not grow', async () => {
    await createClaim('fixed', STORAGE_CLASS);
    await runWithDisk('fixed', 'fixed');
    await expect(cluster.api.patch(`${CLAIMS}/fixed`, { spec: request('96Mi') })).rejects.toThrow(
      /403 .*storageclass that provisions the pvc must support resize/,
    );
    expect(sizeOf('fixed')).toBeLessThan(32 * 1024);
  });
});
