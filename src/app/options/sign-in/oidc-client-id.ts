/** Client id of the service at the identity provider. */
import { flag } from '../flag.ts';

export const oidcClientId = flag({
  name: 'oidc-client-id',
  default: '',
  help: 'client id of this service there',
  parse: (text) => text,
});
