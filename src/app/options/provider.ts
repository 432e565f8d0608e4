/** Flags of the code-hosting provider. */
import { flag } from './flag.ts';

export const providerFlags = {
  /** Base URL of the code-hosting provider. */
  githubUrl: flag({
    name: 'github-url',
    default: 'https://github.com',
    help: 'URL of the code-hosting provider',
    parse: (text) => text,
  }),
  /** Base URL of the provider's API. */
  githubApiUrl: flag({
    name: 'github-api-url',
    default: '',
    help: "URL of the provider's API, when it is not the usual one",
    parse: (text) => text,
  }),
  /** Client id of the OAuth app or GitHub App; without one there is no provider. */
  githubClientId: flag({
    name: 'github-client-id',
    default: '',
    help: 'client id of this service at the provider; without it there is no provider',
    parse: (text) => text,
  }),
  /** File with the client secret, which is never a flag itself. */
  githubClientSecretFile: flag({
    name: 'github-client-secret-file',
    default: '',
    help: 'file with the client secret, in place of SANDHAVEN_GITHUB_CLIENT_SECRET',
    parse: (text) => text,
  }),
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
