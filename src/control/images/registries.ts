/** Registries of container images: credentials that admins keep for all users, and the operator's rules. */
import { notFound } from '../../model/errors.ts';
import { type RegistryRules, registryKey } from '../../model/registries.ts';
import type { Clock, RegistryAccount, RegistryCredential, RegistryCredentialStore } from '../ports/index.ts';

export interface RegistryDependencies {
  store: RegistryCredentialStore;
  rules: RegistryRules;
  clock: Clock;
}

export class RegistryService {
  readonly #deps: RegistryDependencies;

  constructor(dependencies: RegistryDependencies) {
    this.#deps = dependencies;
  }

  get rules(): RegistryRules {
    return this.#deps.rules;
  }

  list(): Promise<RegistryAccount[]> {
    return this.#deps.store.list();
  }

  /** Stores credentials, in place of earlier ones of this registry. Makes no request: the next pull tries them. */
  put({ registry, username, password }: RegistryCredential): Promise<RegistryAccount> {
    const { store, clock } = this.#deps;
    return store.put({ registry: registryKey(registry), username, password }, clock.now());
  }

  /** Rejects with `not_found`. Images pulled with the credentials stay. */
  async remove(registry: string): Promise<string> {
    const key = registryKey(registry);
    if (await this.#deps.store.remove(key)) return key;
    throw notFound(
      'registry',
      `No credentials are kept for the registry '${key}'.`,
      'ListRegistries shows which there are.',
    );
  }
}
