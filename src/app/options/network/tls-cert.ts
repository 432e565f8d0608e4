/** PEM file with the certificate of the API and of previews, and its chain. */
import { flag } from '../flag.ts';

export const tlsCert = flag({
  name: 'tls-cert',
  default: '',
  help: 'certificate with its chain, PEM, for the API and previews',
  parse: (text) => text,
});
