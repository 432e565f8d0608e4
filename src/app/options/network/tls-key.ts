/** PEM file with the certificate's key. */
import { flag } from '../flag.ts';

export const tlsKey = flag({
  name: 'tls-key',
  default: '',
  help: "the certificate's key, PEM",
  parse: (text) => text,
});
