/** Sandboxes that wait in the warm pool: of the base image and the standard sizes, without an owner, named by their ids. */
import { limits } from '../../model/limits.ts';
import type { Sandbox } from '../../model/sandbox.ts';
import { BASE_IMAGE, defaultResources } from '../images/base-image.ts';
import type { PoolBounds } from './size.ts';

export function poolSandbox(id: string, imageDigest: string, regionId: string, now: number): Sandbox {
  return {
    id,
    ownerId: null,
    name: id,
    state: 'stopped',
    operation: 'creating',
    holder: null,
    stateReason: null,
    generation: 1,
    runGeneration: null,
    language: 'python',
    snapshot: null,
    image: BASE_IMAGE,
    imageDigest,
    entrypoint: null,
    resources: defaultResources,
    resizeTarget: null,
    labels: {},
    envVars: {},
    autoStopMinutes: 0,
    autoArchiveMinutes: limits.autoArchiveMinutes.default,
    autoDeleteMinutes: limits.autoDeleteMinutes.default,
    ephemeral: false,
    regionId,
    archive: null,
    creationKey: null,
    createdAt: now,
    updatedAt: now,
    lastActivityAt: now,
    startedAt: null,
    stoppedAt: null,
    archivedAt: null,
  };
}

/**
 * Returns the test of sandboxes in the pool that are still usable.
 * @param baseDigest The base image; null where it could not be found just now, which other replicas may have.
 */
export function stillUsable(
  { max }: PoolBounds,
  baseDigest: string | null,
): (sandbox: Pick<Sandbox, 'imageDigest'>) => boolean {
  return ({ imageDigest }) => max > 0 && (baseDigest === null || imageDigest === baseDigest);
}
