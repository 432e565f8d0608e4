/** Registries and repositories that images may come from. */
import { parseAllowedImages } from '../../../model/registry-rules.ts';
import { flag } from '../flag.ts';

export const allowedImages = flag({
  name: 'registry-allow',
  default: 'all',
  help: 'registries and repositories that images may come from, such as docker.io,registry.example/team/*, or none',
  parse: (text, { flag }) => parseAllowedImages(flag, text),
});
