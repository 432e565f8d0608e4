/** The standard base image as the snapshot `base`, which everybody has and nobody made. */
import { SandhavenError } from '../model/errors.ts';
import type { Snapshot } from '../model/snapshot.ts';
import { BASE_IMAGE, defaultResources } from './base-image.ts';
import type { Image, Images } from './ports.ts';

const BASE_ID = 'snap_base000000000000';
/** Always the same and before all others: it is there since ever, whenever its image was built. */
const SINCE_EVER = 0;

export function isBase(idOrName: string): boolean {
  return idOrName === BASE_IMAGE || idOrName === BASE_ID;
}

export async function baseSnapshot(images: Images, regionId: string): Promise<Snapshot> {
  let image: Image | null = null;
  let reason: string | null = null;
  try {
    image = await images.ensure(BASE_IMAGE);
  } catch (error) {
    if (!(error instanceof SandhavenError)) throw error;
    reason = error.message;
  }
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
    createdAt: SINCE_EVER,
    updatedAt: SINCE_EVER,
  };
}
