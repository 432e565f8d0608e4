/** Extended resource that counts as a GPU. */
import { flag } from '../flag.ts';

export const gpuResource = flag({
  name: 'gpu-resource',
  default: 'nvidia.com/gpu',
  group: 'kubernetes',
  help: 'resource of the device plugin that gives Pods their GPUs',
  parse: (text) => text,
});
