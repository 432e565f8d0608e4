/** Address of the SSH gateway. */
import { parseGatewayAddress } from '../address.ts';
import { flag } from '../flag.ts';

export const sshListen = flag({
  name: 'ssh-listen',
  default: '127.0.0.1:7422',
  help: 'address of the SSH gateway',
  parse: parseGatewayAddress,
});
