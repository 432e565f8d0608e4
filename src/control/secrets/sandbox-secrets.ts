/** Secrets of a caller's sandboxes: given at the creation, and to sandboxes that are there. */
import { invalidArgument } from '../../model/errors.ts';
import { limits } from '../../model/limits.ts';
import type { Sandbox } from '../../model/sandbox.ts';
import type { Secret } from '../../model/secrets/secret.ts';
import { ownerIdOf, type User } from '../../model/user.ts';
import type { Runtime, SandboxStore, SecretStore } from '../ports/index.ts';
import type { Networks } from '../reach/networks.ts';
import type { SandboxTrust } from '../reach/sandbox-trust.ts';
import type { SecretHolder } from '../reach/secret-uses.ts';
import { resolveSandbox } from '../turns/resolve.ts';
import type { Turns } from '../turns/turns.ts';
import { assertSecrets, findSecret, noSecret } from './secret-service.ts';

export interface SandboxSecretsDependencies {
  store: SecretStore;
  sandboxes: SandboxStore;
  runtime: Pick<Runtime, 'capabilities'>;
  machines: Pick<Turns, 'change'>;
  networks: Pick<Networks, 'apply'>;
  trust: Pick<SandboxTrust, 'apply'>;
}

/** Secrets of one sandbox, as its owner sees them. */
export interface ShownSecrets {
  sandboxId: string;
  /** Sorted by name. */
  secrets: Secret[];
}

export class SandboxSecrets {
  readonly #deps: SandboxSecretsDependencies;

  constructor(dependencies: SandboxSecretsDependencies) {
    this.#deps = dependencies;
  }

  /**
   * Returns the ids of the secrets that a creation asks for. Rejects, before anything happens, with `not_found`,
   * `invalid_argument`, and `failed_precondition` where the engine has no secrets.
   */
  async accept(caller: User, references: readonly string[] | undefined): Promise<string[]> {
    if (references === undefined || references.length === 0) return [];
    assertSecrets(this.#deps.runtime, 'secrets');
    const kept = await this.#deps.store.list(ownerIdOf(caller));
    const wanted = references.map((reference) => {
      const found = kept.find(({ id, name }) => id === reference || name === reference);
      if (!found) throw noSecret(reference);
      return found;
    });
    const once = [...new Set(wanted)];
    assertTogether(once, 'secrets');
    return once.map(({ id }) => id);
  }

  /** Returns the secrets that a sandbox has. */
  async of({ ownerId, secretIds }: Omit<SecretHolder, 'id'>): Promise<Secret[]> {
    if (ownerId === null || secretIds.length === 0) return [];
    return this.#deps.store.some(ownerId, secretIds);
  }

  /**
   * Gives a secret, also to a running sandbox: its requests carry it when the call ends, and processes that start from then
   * on have its variable.
   */
  async give(caller: User, reference: string, secretReference: string): Promise<ShownSecrets> {
    const { sandboxes, store, runtime, trust } = this.#deps;
    assertSecrets(runtime);
    const { id } = await resolveSandbox(sandboxes, caller, reference);
    const secret = await findSecret(store, caller, secretReference);
    const kept = new Map((await store.list(secret.ownerId)).map((one) => [one.id, one]));
    const next = ({ secretIds }: Sandbox) => {
      const others = secretIds.filter((one) => one !== secret.id).flatMap((one) => kept.get(one) ?? []);
      const together = [...others, secret];
      assertTogether(together, 'secret');
      return together.map((one) => one.id);
    };
    return this.#change(id, next, (sandbox) => trust.apply(sandbox));
  }

  /** Takes a secret away, also from a running sandbox. One that it does not have is none. */
  async take(caller: User, reference: string, secretReference: string): Promise<ShownSecrets> {
    const { sandboxes, store, networks } = this.#deps;
    const { id } = await resolveSandbox(sandboxes, caller, reference);
    const secret = await findSecret(store, caller, secretReference);
    const next = ({ secretIds }: Sandbox) => secretIds.filter((one) => one !== secret.id);
    return this.#change(id, next, (sandbox) => networks.apply(sandbox));
  }

  async #change(
    id: string,
    next: (sandbox: Sandbox) => string[],
    then: (sandbox: Sandbox) => Promise<void>,
  ): Promise<ShownSecrets> {
    const patch = (sandbox: Sandbox) => ({ secretIds: next(sandbox) });
    const changed = await this.#deps.machines.change(id, patch, then);
    return { sandboxId: id, secrets: await this.of(changed) };
  }
}

/** Throws `invalid_argument` for more than a sandbox may have, and for two of one variable. */
function assertTogether(secrets: readonly Secret[], parameter: string): void {
  const { perSandbox } = limits.secrets;
  if (secrets.length > perSandbox) {
    throw invalidArgument(
      parameter,
      `A sandbox has at most ${perSandbox} secrets, and these are ${secrets.length}.`,
      'Take one away first: TakeSecret.',
    );
  }
  const byVariable = Map.groupBy(secrets, ({ variable }) => variable);
  const clash = [...byVariable].find(([, those]) => those.length > 1);
  if (!clash) return;
  const [variable, those] = clash;
  throw invalidArgument(
    parameter,
    `The secrets ${those.map(({ name }) => `'${name}'`).join(' and ')} have one variable, ${variable}.`,
    'Give one of them another: UpdateSecret with variable.',
  );
}
