/** Base URL of the provider's API. */
import { flag } from '../flag.ts';

export const githubApiUrl = flag({
  name: 'github-api-url',
  default: '',
  help: 'its API, when it is not where its kind has it',
  parse: (text) => text,
});
