/** Public URL of previews, for a proxy before them or another name of the listener. */
import { parsePreviewUrl } from '../../../model/network/public-site.ts';
import { flag } from '../flag.ts';

export const previewUrl = flag({
  name: 'preview-url',
  default: '',
  help: 'public URL of previews, such as https://*.previews.example.com',
  parse: (text, { flag }) => parsePreviewUrl(flag, text),
});
