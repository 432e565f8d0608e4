/**
 * Gives claims of the default storage class their volumes: an ext4 image of the size asked for, mounted on the node that
 * the scheduler chose. Data stays on that node, as on a local disk.
 */
import { execFileSync } from 'node:child_process';
import { mkdirSync, rmSync, truncateSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Api, KubeObject } from './api.ts';
import type { Node } from './node.ts';

export const STORAGE_CLASS = 'test-disk';

const PROVISIONER = 'test.sandhaven/disk';
const CLAIMS = '/api/v1/persistentvolumeclaims';
const VOLUMES = '/api/v1/persistentvolumes';
const MOUNTS = '/var/lib/volumes';

const units: Record<string, number> = {
  '': 1,
  k: 1e3,
  M: 1e6,
  G: 1e9,
  Ki: 2 ** 10,
  Mi: 2 ** 20,
  Gi: 2 ** 30,
};

/** @param failed Receives what goes wrong with one claim; the next change of any claim tries it again. */
export async function provideVolumes(
  api: Api,
  nodes: Node[],
  signal: AbortSignal,
  failed: (error: unknown) => void,
): Promise<void> {
  await api.create('/apis/storage.k8s.io/v1/storageclasses', {
    metadata: { name: STORAGE_CLASS, annotations: { 'storageclass.kubernetes.io/is-default-class': 'true' } },
    provisioner: PROVISIONER,
    reclaimPolicy: 'Delete',
    // The node is known only when the Pod has been scheduled.
    volumeBindingMode: 'WaitForFirstConsumer',
  });
  let turn = Promise.resolve();
  const look = () => {
    turn = turn
      .then(() => settle(api, nodes))
      .catch((error) => {
        if (!signal.aborted) failed(error);
      });
  };
  api.watch(CLAIMS, look, signal);
  api.watch(VOLUMES, look, signal);
}

async function settle(api: Api, nodes: Node[]): Promise<void> {
  const [claims, volumes] = await Promise.all([api.get(CLAIMS), api.get(VOLUMES)]);
  const names = new Set(volumes.items.map((volume: KubeObject) => volume.metadata.name));
  for (const claim of claims.items) {
    const chosen = claim.metadata.annotations?.['volume.kubernetes.io/selected-node'];
    const node = nodes.find(({ name }) => name === chosen);
    const wanted = claim.spec.storageClassName === STORAGE_CLASS && claim.status.phase === 'Pending';
    if (wanted && node && !names.has(nameOf(claim))) await provide(api, claim, node);
  }
  for (const volume of volumes.items) {
    const ours = volume.spec.storageClassName === STORAGE_CLASS && !volume.metadata.deletionTimestamp;
    if (ours && volume.status.phase === 'Released') await remove(api, volume, nodes);
  }
}

async function provide(api: Api, claim: KubeObject, node: Node): Promise<void> {
  const name = nameOf(claim);
  const { storage } = claim.spec.resources.requests;
  makeDisk(node, name, bytesOf(storage));
  await api.create(VOLUMES, {
    // By this the controller manager leaves its deletion to this program.
    metadata: { name, annotations: { 'pv.kubernetes.io/provisioned-by': PROVISIONER } },
    spec: {
      capacity: { storage },
      accessModes: claim.spec.accessModes,
      persistentVolumeReclaimPolicy: 'Delete',
      storageClassName: STORAGE_CLASS,
      claimRef: {
        apiVersion: 'v1',
        kind: 'PersistentVolumeClaim',
        ...{ namespace: claim.metadata.namespace, name: claim.metadata.name, uid: claim.metadata.uid },
      },
      local: { path: `${MOUNTS}/${name}` },
      nodeAffinity: {
        required: {
          nodeSelectorTerms: [
            { matchExpressions: [{ key: 'kubernetes.io/hostname', operator: 'In', values: [node.name] }] },
          ],
        },
      },
    },
  });
}

async function remove(api: Api, volume: KubeObject, nodes: Node[]): Promise<void> {
  const { name } = volume.metadata;
  const [term] = volume.spec.nodeAffinity.required.nodeSelectorTerms;
  const node = nodes.find((one) => one.name === term.matchExpressions[0].values[0]);
  if (node) {
    node.room.run(['umount', `${MOUNTS}/${name}`]);
    rmSync(imageOf(node, name));
  }
  await api.delete(`${VOLUMES}/${name}`);
}

function makeDisk(node: Node, name: string, bytes: number): void {
  const image = imageOf(node, name);
  const folder = join(node.folder, 'lib/volumes', name);
  mkdirSync(folder, { recursive: true });
  mkdirSync(join(node.folder, 'disks'), { recursive: true });
  writeFileSync(image, '');
  truncateSync(image, bytes);
  execFileSync('mkfs.ext4', ['-q', '-m', '0', image], { stdio: 'pipe' });
  node.room.run(['mount', '-o', 'loop', image, `${MOUNTS}/${name}`]);
}

function imageOf(node: Node, name: string): string {
  return join(node.folder, 'disks', name);
}

function nameOf(claim: KubeObject): string {
  return `pvc-${claim.metadata.uid}`;
}

function bytesOf(quantity: string): number {
  const [, number, unit = ''] = /^(\d+)([A-Za-z]*)$/.exec(quantity) ?? [];
  const factor = units[unit];
  if (number === undefined || factor === undefined) throw new Error(`no size of a volume: ${quantity}`);
  return Number(number) * factor;
}
