/** Client id of the OAuth app or GitHub App; without one there is no provider. */
import { flag } from '../flag.ts';

export const githubClientId = flag({
  name: 'github-client-id',
  default: '',
  help: 'client id of this service at the provider; without it there is no provider',
  parse: (text) => text,
});
