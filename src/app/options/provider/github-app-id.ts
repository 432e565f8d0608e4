/** Id of a GitHub App. */
import { flag } from '../flag.ts';

export const githubAppId = flag({
  name: 'github-app-id',
  default: '',
  help: 'id of a GitHub App that is installed at repositories',
  parse: (text) => text,
});
