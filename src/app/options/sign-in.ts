/** Options of signing in, and of the code host that users authorize. */
import { type ProviderName, providerNames, providers, secretVariableOf } from '../../model/provider.ts';
import { type Flag, flag } from './flag.ts';

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

type Common = 'Url' | 'ApiUrl' | 'ClientId' | 'ClientSecretFile';
type CommonFlags = { [Key in `${ProviderName}${Common}`]: Flag<string, string> };

export const providerFlags = {
  ...(Object.assign({}, ...providerNames.map(flagsOf)) as CommonFlags),
  /** Id of a GitHub App. */
  githubAppId: flag({
    name: 'github-app-id',
    default: '',
    help: 'id of a GitHub App that is installed at repositories',
    parse: (text) => text,
  }),
  /** Slug of the GitHub App in the provider's URLs. */
  githubAppSlug: flag({
    name: 'github-app-slug',
    default: '',
    help: "name of that app in the provider's URLs",
    parse: (text) => text,
  }),
  /** File with the GitHub App's private key. */
  githubAppPrivateKeyFile: flag({
    name: 'github-app-private-key-file',
    default: '',
    help: "file with that app's private key",
    parse: (text) => text,
  }),
};

function flagsOf(name: ProviderName): Record<string, Flag<string, string>> {
  const { title, url } = providers[name];
  const text = (part: string, help: string, usual = '') =>
    flag({ name: `${name}-${part}`, default: usual, help, parse: (given) => given });
  return {
    [`${name}Url`]: text('url', `URL of ${title}, for a code-hosting provider of its kind`, url),
    [`${name}ApiUrl`]: text('api-url', "URL of that provider's API, when it is not the usual one"),
    [`${name}ClientId`]: text(
      'client-id',
      'client id of this service there; without it the provider is not used',
    ),
    /** The client secret is never a flag itself. */
    [`${name}ClientSecretFile`]: text(
      'client-secret-file',
      `file with the client secret, in place of ${secretVariableOf(name)}`,
    ),
  };
}
