/** Issuer of the identity provider; without it there is none. */
import { flag } from '../flag.ts';

export const oidcIssuer = flag({
  name: 'oidc-issuer',
  default: '',
  help: "URL of the team's identity provider (OpenID Connect), for people with browsers",
  parse: (text) => text,
});
