/** Parent domain of the names of previews. */
import { parseDomain } from '../../../model/network/public-site.ts';
import { flag } from '../flag.ts';

export const previewDomain = flag({
  name: 'preview-domain',
  default: 'localhost',
  help: 'parent domain of previews',
  parse: (text, { flag }) => parseDomain(flag, text),
});
