/** Public origin of the API, for a proxy before it or another name of the listener. */
import { parsePublicUrl } from '../../../model/network/public-site.ts';
import { flag } from '../flag.ts';

export const publicUrl = flag({
  name: 'public-url',
  default: '',
  help: 'public URL of the API, such as https://sandhaven.example.com',
  parse: (text, { flag }) => parsePublicUrl(flag, text),
});
