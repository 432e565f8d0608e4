/** The standard base image: its name, and the default sizes. */
import { limits } from '../../model/limits.ts';
import type { Resources } from '../../model/sandbox.ts';

export const BASE_IMAGE = 'base';

/** Sizes of warm pool sandboxes and of the base snapshot, and defaults of other snapshots. */
export const defaultResources: Resources = {
  cpu: limits.cpu.default,
  memory: limits.memoryGb.default,
  disk: limits.diskGb.default,
  gpu: limits.gpu.default,
};
