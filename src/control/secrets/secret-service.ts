/**
 * Secrets of an owner, for the actions. Who acts for a team manages the team's. A value goes in and never comes out: where
 * its requests may go to is widened only together with the value.
 */
import { invalidArgument, notFound, SandhavenError } from '../../model/errors.ts';
import { newSecretId } from '../../model/ids.ts';
import { formatPlace, parsePlace } from '../../model/secrets/place-text.ts';
import { type ProviderAddresses, targetElsewhere } from '../../model/secrets/provider-secret.ts';
import { assertValue, type Secret, usualVariable } from '../../model/secrets/secret.ts';
import { parseTargets, targetOutside } from '../../model/secrets/target-text.ts';
import { ownerIdOf, type User } from '../../model/user.ts';
import type { RunningSandboxes } from '../network/running-sandboxes.ts';
import type { Clock, CodeHost, Runtime, SecretPatch, SecretStore } from '../ports/index.ts';

export interface SecretRequest {
  name: string;
  value: string;
  targets: readonly string[];
  place: string;
  /** By default the name in upper case. */
  variable: string | undefined;
  /** 0: never. */
  expiresInMinutes: number;
}

export interface SecretChange {
  targets?: readonly string[] | undefined;
  variable?: string | undefined;
  expiresInMinutes?: number | undefined;
}

export interface SecretServiceDependencies {
  store: SecretStore;
  runtime: Pick<Runtime, 'capabilities'>;
  running: RunningSandboxes;
  /** null without a code-hosting provider. */
  provider: (ProviderAddresses & Pick<CodeHost, 'name'>) | null;
  clock: Clock;
}

export class SecretService {
  readonly #deps: SecretServiceDependencies;

  constructor(dependencies: SecretServiceDependencies) {
    this.#deps = dependencies;
  }

  /** Rejects with `failed_precondition` where the engine has no secrets. */
  async create(caller: User, request: SecretRequest): Promise<Secret> {
    const { store, runtime, clock } = this.#deps;
    assertSecrets(runtime);
    const { name, value, variable = usualVariable(name), expiresInMinutes } = request;
    const place = formatPlace(parsePlace('place', request.place));
    assertValue('value', value, place);
    const targets = await parseTargets('targets', request.targets);
    const now = clock.now();
    const [id, ownerId, expiresAt] = [newSecretId(), ownerIdOf(caller), endOf(now, expiresInMinutes)];
    const kept = { id, ownerId, name, variable, targets, place, provider: null, createdAt: now, expiresAt };
    return store.insert(kept, value);
  }

  /** Sorted by name. */
  list(caller: User): Promise<Secret[]> {
    return this.#deps.store.list(ownerIdOf(caller));
  }

  /**
   * Changes what is given, also in running sandboxes. Rejects with `invalid_argument` for a target at another host: who may
   * not see the value could have it sent there.
   */
  async update(caller: User, reference: string, change: SecretChange): Promise<Secret> {
    const { store, clock } = this.#deps;
    const secret = await findSecret(store, caller, reference);
    const patch = await this.#patchOf(change);
    if (Object.keys(patch).length === 0) throw nothingToChange();
    const { targets = [] } = patch;
    if (secret.provider === null) {
      const outside = targetOutside(targets, secret.targets);
      if (outside !== null) throw elsewhere(outside);
    } else this.#assertAtProvider(secret, targets);
    return this.#reached(reference, await store.update(secret.id, patch, clock.now()));
  }

  /** Replaces the value, and what else is given, also in running sandboxes. */
  async rotate(caller: User, reference: string, value: string, change: SecretChange): Promise<Secret> {
    const { store, clock } = this.#deps;
    const secret = await findSecret(store, caller, reference);
    if (secret.provider !== null) throw noValue(secret, this.#deps.provider?.name ?? 'start');
    assertValue('value', value, secret.place);
    const patch = await this.#patchOf(change);
    return this.#reached(reference, await store.rotate(secret.id, value, patch, clock.now()));
  }

  /** Takes it from all sandboxes, also running ones. */
  async remove(caller: User, reference: string): Promise<Secret> {
    const { store, running } = this.#deps;
    const secret = await findSecret(store, caller, reference);
    await store.remove(secret.id);
    // Asked for afterwards: one that was given it in between has it in force, or does not find it any more.
    const holders = await store.holders(secret.ownerId, secret.id);
    await running.reach(holders, shown(secret), ({ secretIds }) => ({
      secretIds: secretIds.filter((id) => id !== secret.id),
    }));
    return secret;
  }

  #assertAtProvider({ provider }: Secret, targets: readonly string[]): void {
    const addresses = this.#deps.provider?.url === provider ? this.#deps.provider : null;
    const elsewhere = targetElsewhere(targets, addresses);
    if (elsewhere !== null) throw notAtProvider(elsewhere, provider);
  }

  async #reached(reference: string, changed: Secret | null): Promise<Secret> {
    if (!changed) throw noSecret(reference);
    const { store, running } = this.#deps;
    await running.reach(await store.holders(changed.ownerId, changed.id), shown(changed));
    return changed;
  }

  async #patchOf({ targets, variable, expiresInMinutes }: SecretChange): Promise<SecretPatch> {
    const now = this.#deps.clock.now();
    return {
      ...(targets === undefined ? {} : { targets: await parseTargets('targets', targets) }),
      ...(variable === undefined ? {} : { variable }),
      ...(expiresInMinutes === undefined ? {} : { expiresAt: endOf(now, expiresInMinutes) }),
    };
  }
}

/** Throws `failed_precondition` where the engine cannot put secrets into requests. */
export function assertSecrets({ capabilities }: Pick<Runtime, 'capabilities'>, parameter?: string): void {
  if (capabilities.secrets) return;
  throw new SandhavenError(
    'failed_precondition',
    'The engine of this service puts no secrets into requests of sandboxes.',
    { ...(parameter === undefined ? {} : { parameter }), hint: 'Go without secrets, or give env_vars.' },
  );
}

function shown({ name }: Secret): string {
  return `secret '${name}'`;
}

export function endOf(now: number, minutes: number): number | null {
  return minutes === 0 ? null : now + minutes * 60_000;
}

/** Error of a target for a provider's secret that is at another host. */
export function notAtProvider(target: string, provider: string | null): SandhavenError {
  return invalidArgument(
    'targets',
    `The target '${target}' is not at the code-hosting provider.`,
    `An authorization at ${provider} goes to its API and its Git host alone.`,
  );
}

function noValue({ name, provider }: Secret, word: string): SandhavenError {
  return new SandhavenError(
    'failed_precondition',
    `The secret '${name}' has no value of its own: it is your authorization at ${provider}.`,
    { hint: `The service renews it by itself. For another account authorize again: sandhaven auth ${word}.` },
  );
}

function nothingToChange(): SandhavenError {
  return invalidArgument(
    'targets',
    'Nothing to change: none of targets, variable, expires_in_minutes was given.',
    'Give at least one of them.',
  );
}

function elsewhere(target: string): SandhavenError {
  return invalidArgument(
    'targets',
    `The target '${target}' is at a host that the secret is not for so far.`,
    'Give the value again with the new targets: RotateSecret.',
  );
}

/** Finds a secret of the owner that the caller acts for, by id or by name. Rejects with `not_found`. */
export async function findSecret(
  store: Pick<SecretStore, 'find'>,
  caller: User,
  reference: string,
): Promise<Secret> {
  const secret = await store.find(ownerIdOf(caller), reference);
  if (secret) return secret;
  throw noSecret(reference);
}

export function noSecret(reference: string): SandhavenError {
  return notFound('secret', `There is no secret '${reference}'.`, 'ListSecrets shows the ones there are.');
}
