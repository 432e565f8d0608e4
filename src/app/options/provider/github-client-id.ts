/** Client id of the OAuth app or GitHub App; without one there is no provider. */
import { flag } from '../flag.ts';

export const githubClientId = flag({
  name: 'github-client-id',
  default: '',
  help: 'what the provider knows this service by; without it there is none',
  parse: (text) => text,
});
