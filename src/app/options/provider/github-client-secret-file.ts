/** File with the client secret, which is never a flag itself. */
import { flag } from '../flag.ts';

export const githubClientSecretFile = flag({
  name: 'github-client-secret-file',
  default: '',
  help: 'file with the client secret, in place of SANDHAVEN_GITHUB_CLIENT_SECRET',
  parse: (text) => text,
});
