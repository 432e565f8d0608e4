/** Base URL of the provider's API. */
import { flag } from '../flag.ts';

export const githubApiUrl = flag({
  name: 'github-api-url',
  default: '',
  help: "URL of the provider's API, when it is not the usual one",
  parse: (text) => text,
});
