/**
 * Keeps authorizations at the code-hosting provider in force in running sandboxes: renews their tokens in time, and puts each
 * change in force at once. A look once a minute finds what is due, and what nobody has told of, such as a user who is
 * enabled again.
 */
import { mapBounded } from '../../concurrency/in-portions.ts';
import { limits } from '../../model/limits.ts';
import type { RunningSandboxes } from '../network/running-sandboxes.ts';
import type { Log, SecretStore } from '../ports/index.ts';
import type { AuthorizationUses } from '../provider/granted.ts';
import type { UserTokens } from '../provider/tokens.ts';
import type { OwnedToken, ProviderTokens } from '../reach/provider-tokens.ts';

export interface ProviderRenewalsDependencies {
  store: Pick<SecretStore, 'providerOwners' | 'list' | 'holders'>;
  provider: Pick<ProviderTokens, 'addresses' | 'of' | 'forgetOthers'>;
  tokens: Pick<UserTokens, 'current'>;
  running: Pick<RunningSandboxes, 'reach'>;
  log: Log;
}

export class ProviderRenewals implements AuthorizationUses {
  readonly #d: ProviderRenewalsDependencies;
  /** Version of the token that running sandboxes of an owner have; null: none. */
  readonly #inForce = new Map<string, string | null>();
  #timer: NodeJS.Timeout | null = null;
  #looking: Promise<void> | null = null;

  constructor(dependencies: ProviderRenewalsDependencies) {
    this.#d = dependencies;
  }

  begin(): void {
    this.#timer = setInterval(() => {
      this.#looking ??= this.look().finally(() => {
        this.#looking = null;
      });
    }, limits.secrets.providerLookMs).unref();
  }

  async close(): Promise<void> {
    if (this.#timer) clearInterval(this.#timer);
    await this.#looking;
  }

  changed(userId: string): void {
    this.ended(userId).catch((error: unknown) => {
      // Each sandbox is tried again, and the next look finds an owner whose sandboxes could not be read.
      this.#d.log.warn('a change of an authorization is not in force everywhere', { user: userId, error });
    });
  }

  ended(userId: string): Promise<void> {
    this.#inForce.delete(userId);
    return this.#reach(userId);
  }

  /** Does not reject: the next look comes. */
  async look(): Promise<void> {
    const { store, provider, log } = this.#d;
    try {
      const owners = await store.providerOwners(provider.addresses.url);
      this.#forgetOthers(owners);
      await mapBounded(owners, limits.network.reachedAtOnce, (ownerId) => this.#check(ownerId));
    } catch (error) {
      log.warn('sandboxes with authorizations could not be looked at', { error });
    }
  }

  async #check(ownerId: string): Promise<void> {
    const { provider, tokens, log } = this.#d;
    try {
      // Renews it ahead of its end, and tells of that by `changed`.
      if ((await provider.of(ownerId)) !== null) await tokens.current({ id: ownerId });
      const version = versionOf(await provider.of(ownerId));
      if (this.#inForce.get(ownerId) === version) return;
      await this.#reach(ownerId);
      this.#inForce.set(ownerId, version);
    } catch (error) {
      log.warn('an authorization is not kept up in sandboxes', { user: ownerId, error });
    }
  }

  async #reach(ownerId: string): Promise<void> {
    const { store, provider, running } = this.#d;
    const secrets = (await store.list(ownerId)).filter((one) => one.provider === provider.addresses.url);
    if (secrets.length === 0) return;
    const held = await Promise.all(secrets.map(({ id }) => store.holders(ownerId, id)));
    await running.reach([...new Set(held.flat())], 'the authorization');
  }

  #forgetOthers(owners: readonly string[]): void {
    this.#d.provider.forgetOthers(owners);
    for (const ownerId of this.#inForce.keys()) if (!owners.includes(ownerId)) this.#inForce.delete(ownerId);
  }
}

function versionOf(token: OwnedToken | null): string | null {
  return token?.version ?? null;
}
