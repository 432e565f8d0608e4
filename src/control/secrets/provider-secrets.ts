/**
 * Makes secrets of authorizations at the code-hosting provider, and keeps them in force. Only a person has an authorization, so only for sandboxes of
 * their own; and only where sandboxes reach the provider, by TLS and at a public address.
 */
import { mapBounded } from '../../concurrency/in-portions.ts';
import { SandhavenError } from '../../model/errors.ts';
import { newSecretId } from '../../model/ids.ts';
import { limits } from '../../model/limits.ts';
import { isPublic } from '../../model/network/public-addresses.ts';
import { PROVIDER_PLACE, providerTargets, targetElsewhere } from '../../model/secrets/provider-secret.ts';
import type { Secret } from '../../model/secrets/secret.ts';
import { parseTargets } from '../../model/secrets/target-text.ts';
import type { User } from '../../model/user.ts';
import type { RunningSandboxes } from '../network/running-sandboxes.ts';
import type { Clock, CodeHost, Log, Runtime, SecretStore } from '../ports/index.ts';
import type { AuthorizationUses } from '../provider/device-polls.ts';
import type { ProviderRefusals } from '../provider/refusals.ts';
import type { UserTokens } from '../provider/tokens.ts';
import type { OwnedToken, ProviderTokens } from '../reach/provider-tokens.ts';
import { assertSecrets, endOf, notAtProvider } from './secret-service.ts';

export interface ProviderSecretRequest {
  /** By default the provider's own. */
  name: string | undefined;
  /** By default all at the provider's API and its Git host. */
  targets: readonly string[] | undefined;
  /** By default the one in which the provider's clients look for a token. */
  variable: string | undefined;
  /** 0: never. */
  expiresInMinutes: number;
}

export interface ProviderSecretsDependencies {
  host: Pick<CodeHost, 'name' | 'url' | 'apiUrl' | 'apiRoot' | 'gitUsername' | 'tokenVariable'>;
  store: Pick<SecretStore, 'insert'>;
  tokens: Pick<UserTokens, 'current'>;
  refusals: Pick<ProviderRefusals, 'notAuthorized'>;
  runtime: Pick<Runtime, 'capabilities'>;
  /** Returns the addresses of a name. */
  resolve(host: string): Promise<string[]>;
  clock: Clock;
}

export class ProviderSecrets {
  readonly #deps: ProviderSecretsDependencies;

  constructor(dependencies: ProviderSecretsDependencies) {
    this.#deps = dependencies;
  }

  /**
   * Keeps a secret that stands for the caller's authorization. Rejects with `authorization_required` without one, and with
   * `failed_precondition` for a team, for a provider that sandboxes do not reach, and where the engine has no secrets.
   */
  async create(caller: User, request: ProviderSecretRequest): Promise<Secret> {
    const { host, store, tokens, refusals, runtime, clock } = this.#deps;
    assertSecrets(runtime);
    if (caller.team) throw ofTeam(caller.team.name);
    const all = await this.#usualTargets();
    const targets = request.targets ? await parseTargets('targets', request.targets) : all;
    const elsewhere = targetElsewhere(targets, host);
    if (elsewhere !== null) throw notAtProvider(elsewhere, host.url);
    if ((await tokens.current(caller)) === null) throw await refusals.notAuthorized(caller);
    const now = clock.now();
    const { name = host.name, variable = host.tokenVariable, expiresInMinutes } = request;
    const kept = { id: newSecretId(), ownerId: caller.id, name, variable, targets, provider: host.url };
    const times = { createdAt: now, expiresAt: endOf(now, expiresInMinutes) };
    return store.insert({ ...kept, ...times, place: PROVIDER_PLACE }, null);
  }

  async #usualTargets(): Promise<string[]> {
    const { url, apiUrl } = this.#deps.host;
    const targets = providerTargets(this.#deps.host);
    if (!targets) throw unreachable(url, 'it has no name, or speaks no TLS');
    const names = new Set([url, apiUrl].map((address) => new URL(address).hostname));
    for (const name of names) await this.#assertPublic(name);
    return targets;
  }

  /** The egress program connects to no private address; better that the owner hears it now. */
  async #assertPublic(name: string): Promise<void> {
    const addresses = await this.#deps.resolve(name).catch((error: unknown) => {
      throw notFound(name, error);
    });
    if (addresses.length > 0 && addresses.every(isPublic)) return;
    throw unreachable(name, 'its address is not public');
  }
}

function ofTeam(name: string): SandhavenError {
  return new SandhavenError(
    'failed_precondition',
    `An authorization at the provider is a person's, and you act for the team '${name}'.`,
    {
      hint: "Every member would use it. Make the secret for sandboxes of your own, or keep a team's token: CreateSecret.",
    },
  );
}

function unreachable(host: string, why: string): SandhavenError {
  return new SandhavenError(
    'failed_precondition',
    `Sandboxes cannot use the provider at ${host} themselves: ${why}.`,
    { hint: 'Clone, pull and push with the Git tools, which go through the service.' },
  );
}

function notFound(name: string, cause: unknown): SandhavenError {
  return new SandhavenError(
    'unavailable',
    `The address of ${name} is not found.`,
    { hint: 'Try again later.' },
    cause,
  );
}

/**
 * Keeps authorizations at the code-hosting provider in force in running sandboxes: renews their tokens in time, and
 * puts each change in force at once. A look once a minute finds what is due, and what nobody has told of, such as a
 * user who is enabled again.
 */
interface ProviderRenewalsDependencies {
  store: Pick<SecretStore, 'providerOwners' | 'list' | 'holders'>;
  provider: Pick<ProviderTokens, 'addresses' | 'of' | 'forgetOthers'>;
  tokens: Pick<UserTokens, 'current'>;
  running: Pick<RunningSandboxes, 'reach'>;
  log: Log;
}

export class ProviderRenewals implements AuthorizationUses {
  readonly #deps: ProviderRenewalsDependencies;
  /** Version of the token that running sandboxes of an owner have; null: none. */
  readonly #inForce = new Map<string, string | null>();
  #timer: NodeJS.Timeout | null = null;
  #looking: Promise<void> | null = null;

  constructor(dependencies: ProviderRenewalsDependencies) {
    this.#deps = dependencies;
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
      this.#deps.log.warn('a change of an authorization is not in force everywhere', { user: userId, error });
    });
  }

  ended(userId: string): Promise<void> {
    this.#inForce.delete(userId);
    return this.#reach(userId);
  }

  /** Does not reject: the next look comes. */
  async look(): Promise<void> {
    const { store, provider, log } = this.#deps;
    try {
      const owners = await store.providerOwners(provider.addresses.url);
      this.#forgetOthers(owners);
      await mapBounded(owners, limits.network.reachedAtOnce, (ownerId) => this.#check(ownerId));
    } catch (error) {
      log.warn('sandboxes with authorizations could not be looked at', { error });
    }
  }

  async #check(ownerId: string): Promise<void> {
    const { provider, tokens, log } = this.#deps;
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
    const { store, provider, running } = this.#deps;
    const secrets = (await store.list(ownerId)).filter((one) => one.provider === provider.addresses.url);
    if (secrets.length === 0) return;
    const held = await Promise.all(secrets.map(({ id }) => store.holders(ownerId, id)));
    await running.reach([...new Set(held.flat())], 'the authorization');
  }

  #forgetOthers(owners: readonly string[]): void {
    this.#deps.provider.forgetOthers(owners);
    for (const ownerId of this.#inForce.keys()) if (!owners.includes(ownerId)) this.#inForce.delete(ownerId);
  }
}

function versionOf(token: OwnedToken | null): string | null {
  return token?.version ?? null;
}
