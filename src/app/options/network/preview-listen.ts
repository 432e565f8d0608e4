/** Address of the preview gateway. */
import { parseGatewayAddress } from '../address.ts';
import { flag } from '../flag.ts';

export const previewListen = flag({
  name: 'preview-listen',
  default: '127.0.0.1:7421',
  help: 'address of port previews',
  parse: parseGatewayAddress,
});
