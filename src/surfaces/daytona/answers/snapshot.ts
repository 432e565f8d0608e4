/** A snapshot as Daytona's clients read it; its states have the same names in both. */
import type { SnapshotState } from '../../../model/snapshot.ts';
import { ownerIdOf } from '../../../model/user.ts';
import type { DaytonaCall } from '../base/call.ts';

/** As GetSnapshot shows it. */
export interface SnapshotView {
  id: string;
  name: string;
  state: SnapshotState;
  state_reason?: string;
  image: string;
  entrypoint: string[] | null;
  resources: { cpu: number; memory: number; disk: number; gpu: number };
  region_id: string;
  size_bytes: number | null;
  created_at: string;
  updated_at: string;
}

/** Snapshot that everybody has, and nobody made. */
export const BASE = 'base';

const BYTES_PER_GIB = 2 ** 30;

export function toSnapshot(view: SnapshotView, { request }: Pick<DaytonaCall, 'request'>) {
  const { cpu, memory, disk, gpu } = view.resources;
  return {
    ...{ id: view.id, name: view.name, state: view.state, imageName: view.image },
    organizationId: ownerIdOf(request.caller),
    general: view.name === BASE,
    ...{ cpu, gpu, mem: memory, disk },
    entrypoint: view.entrypoint,
    size: view.size_bytes === null ? null : view.size_bytes / BYTES_PER_GIB,
    errorReason: view.state_reason ?? null,
    ...{ createdAt: view.created_at, updatedAt: view.updated_at },
    // Nobody notes the last use, and none is made of a sandbox.
    ...{ lastUsedAt: null, sourceSandboxId: null },
    ...{ regionIds: [view.region_id], sandboxClass: 'container' },
  };
}
