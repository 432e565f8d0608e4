/** Flags of the code-hosting provider: the same ones for each that the service knows, and those of GitHub's apps. */
import {
  type ProviderName,
  providerNames,
  providers,
  secretVariableOf,
} from '../../model/provider-options.ts';
import { type Flag, flag } from './flag.ts';

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
