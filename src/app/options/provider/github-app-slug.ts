/** Slug of the GitHub App in the provider's URLs. */
import { flag } from '../flag.ts';

export const githubAppSlug = flag({
  name: 'github-app-slug',
  default: '',
  help: "name of that app in the provider's URLs",
  parse: (text) => text,
});
