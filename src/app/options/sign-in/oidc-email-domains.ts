/** Domains of e-mail addresses that may sign in. */
import { flag } from '../flag.ts';

export const oidcEmailDomains = flag({
  name: 'oidc-email-domains',
  default: '',
  help: 'domains of confirmed e-mail addresses that may sign in',
  parse: (text) => text,
});
