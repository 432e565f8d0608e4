/** The row of a sandbox that waits in the warm pool: of the standard sizes, without an owner, named by its id. */
import { limits } from '../../model/limits.ts';
import type { Sandbox } from '../../model/sandbox.ts';
import { BASE_IMAGE, defaultResources } from '../images/base-image.ts';

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
