/** Flags of the identity provider, for people with browsers. */
import { flag } from './flag.ts';

export const signInFlags = {
  /** Issuer of the identity provider; without it there is none. */
  oidcIssuer: flag({
    name: 'oidc-issuer',
    default: '',
    help: "URL of the team's identity provider (OpenID Connect), for people with browsers",
    parse: (text) => text,
  }),
  /** Client id of the service at the identity provider. */
  oidcClientId: flag({
    name: 'oidc-client-id',
    default: '',
    help: 'client id of this service there',
    parse: (text) => text,
  }),
  /** File with the client secret, which is never a flag itself. */
  oidcClientSecretFile: flag({
    name: 'oidc-client-secret-file',
    default: '',
    help: 'file of mode 0600 with the client secret',
    parse: (text) => text,
  }),
  /** Scopes that a sign-in asks for. */
  oidcScopes: flag({
    name: 'oidc-scopes',
    default: 'openid,email,profile',
    help: 'scopes to ask for',
    parse: (text) => text,
  }),
  /** Claim that holds the groups of a person. */
  oidcGroupsClaim: flag({
    name: 'oidc-groups-claim',
    default: 'groups',
    help: 'claim with the groups of a person',
    parse: (text) => text,
  }),
  /** Groups whose members are admins. */
  oidcAdminGroups: flag({
    name: 'oidc-admin-groups',
    default: '',
    help: 'groups whose members are admins',
    parse: (text) => text,
  }),
  /** Groups whose members may sign in; nobody else does then. */
  oidcMemberGroups: flag({
    name: 'oidc-member-groups',
    default: '',
    help: 'groups whose members may sign in',
    parse: (text) => text,
  }),
  /** Domains of e-mail addresses that may sign in. */
  oidcEmailDomains: flag({
    name: 'oidc-email-domains',
    default: '',
    help: 'domains of confirmed e-mail addresses that may sign in',
    parse: (text) => text,
  }),
  /** Name of the provider on the button of the sign-in screen. */
  oidcName: flag({
    name: 'oidc-name',
    default: 'your team account',
    help: 'name of the provider on the sign-in screen',
    parse: (text) => text,
  }),
};
