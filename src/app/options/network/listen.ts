/** Address of the API and of MCP. */
import { parseAddress } from '../address.ts';
import { flag } from '../flag.ts';

export const listen = flag({
  name: 'listen',
  default: '127.0.0.1:7420',
  help: 'address of the API and of MCP',
  parse: parseAddress,
});
