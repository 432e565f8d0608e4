/** Place of new archives: this host, or a bucket. */
import { flag } from '../flag.ts';

export const archiveStore = flag({
  name: 'archive-store',
  default: 'local',
  help: 'where archives of sandboxes go: local, or s3://bucket/prefix',
  parse: (text) => text,
});
