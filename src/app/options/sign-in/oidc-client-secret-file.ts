/** File with the client secret, which is never a flag itself. */
import { flag } from '../flag.ts';

export const oidcClientSecretFile = flag({
  name: 'oidc-client-secret-file',
  default: '',
  help: 'file of mode 0600 with the client secret',
  parse: (text) => text,
});
