/** Domain whose names are the previews. */
import { parseDomain } from '../../../model/network/public-site.ts';
import { flag } from '../flag.ts';

export const previewDomain = flag({
  name: 'preview-domain',
  default: 'localhost',
  help: 'domain of previews',
  parse: (text, { flag }) => parseDomain(flag, text),
});
