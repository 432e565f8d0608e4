/** Name of the provider on the button of the sign-in screen. */
import { flag } from '../flag.ts';

export const oidcName = flag({
  name: 'oidc-name',
  default: 'your team account',
  help: 'name of the provider on the sign-in screen',
  parse: (text) => text,
});
