/** StorageClass of the disks of sandboxes. */
import { flag } from '../flag.ts';

export const storageClass = flag({
  name: 'storage-class',
  default: '',
  group: 'kubernetes',
  help: 'storage class of disks; else the default of the cluster',
  parse: (text) => text,
});
