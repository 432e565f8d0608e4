/** Scopes that a sign-in asks for. */
import { flag } from '../flag.ts';

export const oidcScopes = flag({
  name: 'oidc-scopes',
  default: 'openid,email,profile',
  help: 'scopes to ask for',
  parse: (text) => text,
});
