/** RuntimeClass of the Pods of sandboxes. */
import { flag } from '../flag.ts';

export const runtimeClass = flag({
  name: 'runtime-class',
  default: '',
  group: 'kubernetes',
  help: 'runtime class of Pods, such as one with virtual machines',
  parse: (text) => text,
});
