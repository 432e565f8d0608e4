/** Public address of the SSH gateway, for a forwarded port or another name of the listener. */
import { invalidArgument } from '../../../model/errors.ts';
import { type Address, parseAddress } from '../address.ts';
import { type FlagContext, flag } from '../flag.ts';

export const sshPublic = flag({
  name: 'ssh-public',
  default: '',
  help: 'public host:port of the SSH gateway',
  parse: (text, context) => (text === '' ? null : parsePublicAddress(text, context)),
});

/** Parses an address that clients can connect to: with a port, and no wildcard. */
function parsePublicAddress(text: string, { flag }: FlagContext): Address {
  const address = parseAddress(text, { flag });
  if (address.port > 0 && !['0.0.0.0', '::'].includes(address.host)) return address;
  throw invalidArgument(
    flag,
    `${flag} must be an address that clients can connect to, and '${text}' was given.`,
    'For example sandhaven.example.com:22.',
  );
}
