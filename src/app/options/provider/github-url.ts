/** Base URL of the code-hosting provider. */
import { flag } from '../flag.ts';

export const githubUrl = flag({
  name: 'github-url',
  default: 'https://github.com',
  help: 'URL of the code-hosting provider',
  parse: (text) => text,
});
