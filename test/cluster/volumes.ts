/**
 * Gives claims of two storage classes their volumes: an ext4 image of the size asked for, mounted on the node that the
 * scheduler chose. Data stays on that node, as on a local disk. Claims of one class can grow.
 */
import type { Api, KubeObject } from './api.ts';
import type { Node } from './node.ts';
import { DISKS, makeDisk, removeDisk } from './storage/disks.ts';
import { bytesOf } from './storage/quantity.ts';
import { grow } from './storage/resize.ts';

/** The default class, whose claims keep their size. */
export const STORAGE_CLASS = 'test-disk';

/** The class with `allowVolumeExpansion`. */
export const GROWING_STORAGE_CLASS = 'growing-test-disk';

const PROVISIONER = 'test.sandhaven/disk';
const CLAIMS = '/api/v1/persistentvolumeclaims';
const VOLUMES = '/api/v1/persistentvolumes';
/** Between two looks at a claim whose volume cannot grow yet. */
const AGAIN_MS = 200;

/**
 * @param failed Receives what goes wrong with one claim; the next change of any claim tries it again.
 * @returns a function that looks at all claims again, for a node that has come back.
 */
export async function provideVolumes(
  api: Api,
  nodes: Node[],
  signal: AbortSignal,
  failed: (error: unknown) => void,
): Promise<() => void> {
  const isDefault = { 'storageclass.kubernetes.io/is-default-class': 'true' };
  await createClass(api, { name: STORAGE_CLASS, annotations: isDefault }, false);
  await createClass(api, { name: GROWING_STORAGE_CLASS }, true);
  const report = (error: unknown) => {
    if (!signal.aborted) failed(error);
  };
  let turn = Promise.resolve();
  const look = () => {
    turn = turn
      .then(async () => {
        const isDone = await settle(api, nodes, report);
        if (!isDone && !signal.aborted) setTimeout(look, AGAIN_MS).unref();
      })
      .catch(report);
  };
  api.watch(CLAIMS, look, signal);
  api.watch(VOLUMES, look, signal);
  return look;
}

function createClass(api: Api, metadata: KubeObject, allowVolumeExpansion: boolean): Promise<KubeObject> {
  return api.create('/apis/storage.k8s.io/v1/storageclasses', {
    metadata,
    allowVolumeExpansion,
    provisioner: PROVISIONER,
    reclaimPolicy: 'Delete',
    // The node is known only when the Pod has been scheduled.
    volumeBindingMode: 'WaitForFirstConsumer',
  });
}

/** Nodes that are down keep their disks and claims as they are. @returns whether no claim waits for more space. */
async function settle(api: Api, nodes: Node[], failed: (error: unknown) => void): Promise<boolean> {
  const [claims, volumes] = await Promise.all([api.get(CLAIMS), api.get(VOLUMES)]);
  const up = nodes.filter(({ room }) => room.isOpen);
  let isDone = true;
  for (const claim of claims.items.filter(isOurs)) {
    const volume = volumes.items.find(({ metadata }: KubeObject) => metadata.name === nameOf(claim));
    const chosen = claim.metadata.annotations?.['volume.kubernetes.io/selected-node'];
    const node = up.find(({ name }) => name === (volume ? placeOf(volume) : chosen));
    if (!node) continue;
    if (!volume && claim.status.phase === 'Pending') await provide(api, claim, node).catch(failed);
    if (volume && claim.status.phase === 'Bound') {
      isDone = (await grow(api, claim, volume, node).catch(failed)) !== false && isDone;
    }
  }
  for (const volume of volumes.items.filter(isOurs)) {
    const node = up.find(({ name }) => name === placeOf(volume));
    const isReleased = volume.status.phase === 'Released' && !volume.metadata.deletionTimestamp;
    if (isReleased && node) await remove(api, volume, node).catch(failed);
  }
  return isDone;
}

function isOurs({ spec }: KubeObject): boolean {
  return [STORAGE_CLASS, GROWING_STORAGE_CLASS].includes(spec.storageClassName);
}

/** Name of the node that has its disk. */
function placeOf(volume: KubeObject): string {
  const [term] = volume.spec.nodeAffinity.required.nodeSelectorTerms;
  return term.matchExpressions[0].values[0];
}

async function provide(api: Api, claim: KubeObject, node: Node): Promise<void> {
  const name = nameOf(claim);
  const { storage } = claim.spec.resources.requests;
  await makeDisk(node, name, bytesOf(storage));
  await api.create(VOLUMES, {
    // By this the controller manager leaves its deletion to this program.
    metadata: { name, annotations: { 'pv.kubernetes.io/provisioned-by': PROVISIONER } },
    spec: {
      capacity: { storage },
      accessModes: claim.spec.accessModes,
      persistentVolumeReclaimPolicy: 'Delete',
      storageClassName: claim.spec.storageClassName,
      claimRef: {
        apiVersion: 'v1',
        kind: 'PersistentVolumeClaim',
        ...{ namespace: claim.metadata.namespace, name: claim.metadata.name, uid: claim.metadata.uid },
      },
      local: { path: `${DISKS}/${name}` },
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

async function remove(api: Api, volume: KubeObject, node: Node): Promise<void> {
  const { name } = volume.metadata;
  await removeDisk(node, name);
  await api.delete(`${VOLUMES}/${name}`);
}

function nameOf(claim: KubeObject): string {
  return `pvc-${claim.metadata.uid}`;
}
