/** Devices of the host that count as GPUs. */
import { defaultGpuKind, parseGpuKind } from '../../../model/gpu-kind.ts';
import { flag } from '../flag.ts';

export const gpuKind = flag({
  name: 'gpu-kind',
  default: defaultGpuKind.kind,
  help: 'CDI kind of the GPUs that sandboxes get, vendor/class or vendor/class=name,name',
  parse: (text, { flag }) => parseGpuKind(flag, text),
});
