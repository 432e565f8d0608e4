/**
 * Secrets of sandboxes as their machines use them: those that a sandbox's row names and its own owner keeps. The values go
 * from here to the engine, and nowhere else.
 */
import { randomBytes } from 'node:crypto';
import type { Sandbox } from '../../model/sandbox.ts';
import { providerUses } from '../../model/secrets/provider-secret.ts';
import { isExpired, placeholderOf, type Secret, useOf } from '../../model/secrets/secret.ts';
import type { SecretUse } from '../../model/secrets/use.ts';
import type { Clock, SecretStore, ServiceSecretStore } from '../ports/index.ts';
import type { ProviderTokens } from './provider-tokens.ts';

export interface SecretUsesDependencies {
  store: Pick<SecretStore, 'some' | 'opened'>;
  /** Keeps the key of the placeholders. */
  serviceSecrets: ServiceSecretStore;
  /** null without a code-hosting provider. */
  provider: Pick<ProviderTokens, 'addresses' | 'of'> | null;
  clock: Clock;
}

/** Columns of a sandbox that say which secrets it has. */
export type SecretHolder = Pick<Sandbox, 'id' | 'ownerId' | 'secretIds'>;

const KEY_NAME = 'placeholders of secrets';

/** Files that the agent writes: the usual certificates with the sandbox's own behind them, and that one alone. */
const BUNDLE = '/etc/sandhaven/ca-bundle.pem';
const AUTHORITY = '/etc/sandhaven/authority.pem';

/**
 * Variables by which programs find the certificates that they trust. The last two add to what their runtime trusts; all others
 * replace it.
 */
export const trustVariables: Readonly<Record<string, string>> = {
  SSL_CERT_FILE: BUNDLE,
  REQUESTS_CA_BUNDLE: BUNDLE,
  CURL_CA_BUNDLE: BUNDLE,
  GIT_SSL_CAINFO: BUNDLE,
  PIP_CERT: BUNDLE,
  CARGO_HTTP_CAINFO: BUNDLE,
  AWS_CA_BUNDLE: BUNDLE,
  NPM_CONFIG_CAFILE: BUNDLE,
  NODE_EXTRA_CA_CERTS: AUTHORITY,
  DENO_CERT: AUTHORITY,
};

export class SecretUses {
  readonly #deps: SecretUsesDependencies;
  #key: string | null = null;

  constructor(dependencies: SecretUsesDependencies) {
    this.#deps = dependencies;
  }

  /** Returns what the engine puts into requests of the sandbox. Reads the store only for one that has secrets. */
  async of({ id, ownerId, secretIds }: SecretHolder): Promise<SecretUse[]> {
    if (ownerId === null || secretIds.length === 0) return [];
    const { store, clock } = this.#deps;
    const key = await this.#placeholderKey();
    const now = clock.now();
    const opened = await store.opened(ownerId, secretIds);
    const uses = await Promise.all(
      opened.map(({ secret, value }) => {
        const placeholder = placeholderOf(key, id, secret.id);
        return value === null ? this.#atProvider(secret, placeholder) : [useOf(secret, value, placeholder)];
      }),
    );
    return uses.flat().filter((use) => !isExpired(use, now));
  }

  /** Returns the variables of a process inside: the placeholders, and where the trusted certificates are. */
  async environment({ id, ownerId, secretIds }: SecretHolder): Promise<Record<string, string>> {
    if (ownerId === null || secretIds.length === 0) return {};
    const secrets = await this.#deps.store.some(ownerId, secretIds);
    if (secrets.length === 0) return {};
    const key = await this.#placeholderKey();
    const placeholders = secrets.map((secret) => [secret.variable, placeholderOf(key, id, secret.id)]);
    return { ...trustVariables, ...Object.fromEntries(placeholders) };
  }

  /** Returns nothing while the owner has no authorization at the secret's provider. */
  async #atProvider(secret: Secret, placeholder: string): Promise<SecretUse[]> {
    const { provider } = this.#deps;
    if (!provider || provider.addresses.url !== secret.provider) return [];
    const token = await provider.of(secret.ownerId);
    return token ? providerUses(secret, token, placeholder, provider.addresses) : [];
  }

  async #placeholderKey(): Promise<string> {
    this.#key ??= await this.#deps.serviceSecrets.getOrCreate(KEY_NAME, () =>
      randomBytes(32).toString('hex'),
    );
    return this.#key;
  }
}
