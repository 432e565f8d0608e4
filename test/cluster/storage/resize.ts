/**
 * Grows the volume of a claim whose request was raised, and shows it in the objects as a resizer and the kubelet do:
 * the claim has the condition FileSystemResizePending until its file system has grown, then its status has the new
 * capacity. The volume's capacity follows at the same moment: a kubelet that saw it earlier would report the claim as
 * grown, since it takes local volumes for folders.
 */
import type { Api, KubeObject } from '../api.ts';
import type { Node } from '../node.ts';
import { growDisk } from './disks.ts';
import { bytesOf } from './quantity.ts';

const PENDING = 'FileSystemResizePending';

/** @returns whether the claim's volume has the size that it asks for. */
export async function grow(api: Api, claim: KubeObject, volume: KubeObject, node: Node): Promise<boolean> {
  const { storage } = claim.spec.resources.requests;
  if (bytesOf(storage) > bytesOf(volume.spec.capacity.storage)) {
    if (!(await growDisk(node, volume.metadata.name, bytesOf(storage)))) {
      await showPending(api, claim);
      return false;
    }
    await api.patch(`/api/v1/persistentvolumes/${volume.metadata.name}`, { spec: { capacity: { storage } } });
  }
  if (bytesOf(storage) > bytesOf(claim.status.capacity.storage)) {
    const conditions = [{ $patch: 'delete', type: PENDING }];
    await api.patch(statusOf(claim), { status: { capacity: { storage }, conditions } });
  }
  return true;
}

async function showPending(api: Api, claim: KubeObject): Promise<void> {
  if ((claim.status.conditions ?? []).some(({ type }: KubeObject) => type === PENDING)) return;
  const message = 'Waiting for user to (re-)start a pod to finish file system resize of volume on node.';
  const lastTransitionTime = new Date().toISOString();
  const conditions = [{ type: PENDING, status: 'True', message, lastTransitionTime }];
  await api.patch(statusOf(claim), { status: { conditions } });
}

function statusOf({ metadata }: KubeObject): string {
  return `/api/v1/namespaces/${metadata.namespace}/persistentvolumeclaims/${metadata.name}/status`;
}
