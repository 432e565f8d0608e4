/** File with the GitHub App's private key. */
import { flag } from '../flag.ts';

export const githubAppPrivateKeyFile = flag({
  name: 'github-app-private-key-file',
  default: '',
  help: "file with that app's private key",
  parse: (text) => text,
});
