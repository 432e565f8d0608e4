/**
 * The standard base image: its name, the default sizes, and the snapshot `base`, which every user has and no user
 * owns.
 */
import { SandhavenError } from '../../model/errors.ts';
import { limits } from '../../model/limits.ts';
import type { Resources } from '../../model/sandbox.ts';
import type { Snapshot } from '../../model/snapshot.ts';
import type { Clock, Image, Images } from '../ports/index.ts';

export const BASE_IMAGE = 'base';

/** Sizes of warm pool sandboxes and of the base snapshot, and defaults of other snapshots. */
export const defaultResources: Resources = {
  cpu: limits.cpu.default,
  memory: limits.memoryGb.default,
  disk: limits.diskGb.default,
  gpu: limits.gpu.default,
};

const BASE_ID = 'snap_base000000000000';

export function isBase(idOrName: string): boolean {
  return idOrName === BASE_IMAGE || idOrName === BASE_ID;
}

/** Returns the snapshot with its image's age; without an image, with the current time. */
export async function baseSnapshot(images: Images, regionId: string, clock: Clock): Promise<Snapshot> {
  let image: Image | null = null;
  let reason: string | null = null;
  try {
    image = await images.ensure(BASE_IMAGE);
  } catch (error) {
    if (!(error instanceof SandhavenError)) throw error;
    reason = error.message;
  }
  const madeAt = image?.madeAt ?? clock.now();
  return {
    id: BASE_ID,
    ownerId: '',
    name: BASE_IMAGE,
    state: image ? 'active' : 'error',
    stateReason: reason,
    image: BASE_IMAGE,
    imageDigest: image?.digest ?? null,
    entrypoint: null,
    resources: defaultResources,
    regionId,
    sizeBytes: image?.sizeBytes ?? null,
    source: null,
    imageConfig: null,
    creationKey: null,
    createdAt: madeAt,
    updatedAt: madeAt,
    network: null,
    user: null,
  };
}
