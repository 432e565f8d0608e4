/** The PostgreSQL database of the store; SQLite in the data directory without it. */
import { parseStoreUrl } from '../../../model/store-address.ts';
import { flag } from '../flag.ts';

export const storeUrl = flag({
  name: 'store',
  default: '',
  help: 'PostgreSQL database of the store: postgres://user@host/name; else a file in --data-dir',
  parse: (text, { flag }) => (text === '' ? null : parseStoreUrl(flag, text)),
});
