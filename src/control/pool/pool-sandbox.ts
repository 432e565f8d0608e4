/** Sandboxes that wait in the warm pool: of the base image and the standard sizes, without an owner, named by their ids. */
import { limits } from '../../model/limits.ts';
import { isSameNetwork } from '../../model/network/setting.ts';
import type { NetworkSetting, Sandbox } from '../../model/sandbox.ts';
import { BASE_IMAGE, defaultResources } from '../base/base-image.ts';
import type { PoolBounds } from './size.ts';

export function poolSandbox(
  id: string,
  { imageDigest, network, regionId }: Pick<Sandbox, 'imageDigest' | 'network' | 'regionId'>,
  now: number,
): Sandbox {
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
    rollbackTo: null,
    labels: {},
    envVars: {},
    user: null,
    network,
    secretIds: [],
    imageConfig: null,
    autoStopMinutes: 0,
    autoArchiveMinutes: limits.autoArchiveMinutes.default,
    autoDeleteMinutes: limits.autoDeleteMinutes.default,
    ...{ deadline: null, sleep: null },
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
 * @param usual The network of sandboxes that ask for none.
 */
export function stillUsable(
  { max }: PoolBounds,
  baseDigest: string | null,
  usual: NetworkSetting,
): (sandbox: Pick<Sandbox, 'imageDigest' | 'network'>) => boolean {
  return ({ imageDigest, network }) =>
    max > 0 && (baseDigest === null || imageDigest === baseDigest) && isSameNetwork(network, usual);
}
