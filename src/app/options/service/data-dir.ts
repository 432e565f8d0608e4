/** Data directory of the service. */
import { flag } from '../flag.ts';

export const dataDir = flag({
  name: 'data-dir',
  default: '/var/lib/sandhaven',
  help: 'data directory of the service',
  parse: (text) => text,
});
