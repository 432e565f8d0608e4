/** The standard base image: its name, and the sizes of what is made when nobody gives any. */
import { limits } from '../../model/limits.ts';
import type { Resources } from '../../model/sandbox.ts';

export const BASE_IMAGE = 'base';

/** Of the warm pool, of the base image as a snapshot, and of what a snapshot leaves open. */
export const defaultResources: Resources = {
  cpu: limits.cpu.default,
  memory: limits.memoryGb.default,
  disk: limits.diskGb.default,
  gpu: limits.gpu.default,
};
