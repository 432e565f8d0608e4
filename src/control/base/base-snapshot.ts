/** The standard base image as the snapshot `base`, which every user has and no user owns. */
import { SandhavenError } from '../../model/errors.ts';
import type { Snapshot } from '../../model/snapshot.ts';
import type { Clock, Image, Images } from '../ports/index.ts';
import { BASE_IMAGE, defaultResources } from './base-image.ts';

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
    creationKey: null,
    createdAt: madeAt,
    updatedAt: madeAt,
    network: null,
  };
}
