/**
 * Network policies of machines, with the secrets that their requests carry. The store says what is meant for each sandbox;
 * this puts both in force together, the policy within the ceilings of the owner and of the installation. What cannot be put
 * in force leaves the machine without a network, and is tried again.
 */
import { isDeepStrictEqual } from 'node:util';
import type { Unfinished } from '../../concurrency/unfinished.ts';
import { SandhavenError } from '../../model/errors.ts';
import { assertNoPublicSuffix } from '../../model/network/host-pattern.ts';
import { intersectPolicies } from '../../model/network/intersection.ts';
import type { LearningPolicy, NetworkPolicy } from '../../model/network/policy.ts';
import {
  hostsOf,
  isSameNetwork,
  type NetworkRequest,
  type ParsedNetwork,
  parsedOf,
  parseNetwork,
  policyOf,
} from '../../model/network/setting.ts';
import type { NetworkSetting, Sandbox } from '../../model/sandbox.ts';
import type { Log, Runtime } from '../ports/index.ts';
import type { Bounds, NetworkBounds } from './bounds.ts';
import type { SecretHolder, SecretUses } from './secret-uses.ts';

export interface NetworkDependencies {
  runtime: Pick<Runtime, 'capabilities' | 'setNetwork'>;
  secrets: Pick<SecretUses, 'of'>;
  bounds: NetworkBounds;
  /** Runs work in the sandbox's turn, with its settled row. Rejects with `not_found` once it is gone. */
  inTurn(id: string, work: (sandbox: Sandbox) => Promise<void>): Promise<unknown>;
  unfinished: Pick<Unfinished, 'add'>;
  log: Log;
}

/** A network that sandboxes may be given, and what is in force of it within the ceilings of that moment. */
export interface AcceptedNetwork {
  setting: NetworkSetting;
  inForce: NetworkPolicy;
}

export type Networked = SecretHolder & Pick<Sandbox, 'network'>;

export class Networks {
  readonly #deps: NetworkDependencies;
  /** Ends of learning, by sandbox. */
  readonly #learning = new Map<string, number>();

  constructor(dependencies: NetworkDependencies) {
    this.#deps = dependencies;
  }

  /** Network of the sandboxes of the warm pool. */
  get usual(): NetworkSetting {
    return this.#deps.bounds.ofNobody.usual;
  }

  /** Returns the default and the most of an owner's sandboxes; the installation's for null. */
  boundsOf(ownerId: string | null): Promise<Bounds> {
    return this.#deps.bounds.of(ownerId);
  }

  /**
   * Returns what a request means. Rejects, before anything happens, with `invalid_argument` naming the part of the
   * parameter, and with `failed_precondition` where the engine has no policies.
   */
  async accept(request: NetworkRequest, { most }: Bounds, parameter = 'network'): Promise<AcceptedNetwork> {
    const parsed = parseNetwork(parameter, request);
    return { setting: parsed.setting, inForce: await this.#acceptable(parsed, most, parameter) };
  }

  /**
   * Returns the network of a creation: as asked for, else of its snapshot, else the owner's usual one. Rejects like `accept`.
   */
  async ofCreation(
    request: NetworkRequest | undefined,
    ofSnapshot: NetworkSetting | null,
    bounds: Bounds,
  ): Promise<AcceptedNetwork> {
    if (request !== undefined) return this.accept(request, bounds);
    const setting = ofSnapshot ?? bounds.usual;
    if (setting.mode !== 'open') this.assertPolicies();
    return { setting, inForce: this.inForce(setting, bounds.most) };
  }

  /** Rejects like `accept`. */
  async assertAcceptable(setting: NetworkSetting, most: NetworkPolicy, parameter: string): Promise<void> {
    await this.#acceptable(parsedOf(setting), most, parameter);
  }

  /** Returns what is in force of a setting, within the ceiling. Throws `invalid_argument` for too many rules. */
  inForce(setting: NetworkSetting, most: NetworkPolicy, parameter = 'network'): NetworkPolicy {
    return intersectPolicies(parameter, policyOf(parsedOf(setting)), most);
  }

  /** Returns true when a machine of the warm pool has in force already what this owner's would have. */
  isReadyInPool({ setting, inForce: { mode } }: AcceptedNetwork): boolean {
    if (mode === 'rules' || !isSameNetwork(setting, this.usual)) return false;
    return mode === this.inForce(this.usual, this.#deps.bounds.ofNobody.most).mode;
  }

  /** Throws `failed_precondition` where the engine has no policies. */
  assertPolicies(parameter?: string): void {
    if (!this.#deps.runtime.capabilities.networkPolicies) throw noPolicies(parameter);
  }

  /** Rejects with `failed_precondition` without policies, and where the ceilings allow the owner nothing. */
  async assertLearnable(ownerId: string | null): Promise<void> {
    this.assertPolicies();
    if ((await this.boundsOf(ownerId)).most.mode === 'none') throw nothingToLearn();
  }

  /**
   * Lets a sandbox reach all that the ceilings allow, in place of what is set for it, until then; null ends that. Takes effect
   * when it is put in force. Kept in memory alone: a restart of the service ends it.
   */
  learn(id: string, until: number | null): void {
    if (until === null) this.#learning.delete(id);
    else this.#learning.set(id, until);
  }

  /** Time by which the sandbox stops to learn; null where it does not learn. */
  learnsUntil(id: string): number | null {
    return this.#learning.get(id) ?? null;
  }

  /** Puts policy and secrets in force, before a start and at a claim. */
  async put(sandbox: Networked): Promise<void> {
    const secrets = await this.#deps.secrets.of(sandbox);
    const { most } = await this.boundsOf(sandbox.ownerId);
    const policy = this.#learned(sandbox.id, most) ?? this.inForce(sandbox.network, most);
    await this.#deps.runtime.setNetwork(sandbox.id, policy, secrets);
  }

  /** Like `put`, for a machine that runs already and stays; repeated when it fails, which does not reject. */
  async keep(sandbox: Networked): Promise<void> {
    await this.put(sandbox).catch((error: unknown) => this.#closeUntilDone(sandbox.id, error));
  }

  /**
   * Puts a changed policy of a settled sandbox in force, if its machine runs. Rejects with `unavailable` when that fails: it
   * is repeated, and until it succeeds the machine has no network.
   */
  async apply(sandbox: Networked & Pick<Sandbox, 'state'>): Promise<void> {
    if (sandbox.state !== 'started') return;
    try {
      await this.put(sandbox);
    } catch (error) {
      await this.#closeUntilDone(sandbox.id, error);
      throw notInForce(error);
    }
  }

  /**
   * Puts in force what has changed while the sandbox was made, its ceiling or its secrets: such a change reaches those alone that
   * were there. Secrets are put in force once more in any case: nothing shows here that one of them has changed.
   * @param most The ceiling of before.
   */
  async catchUp({ id, ownerId, secretIds }: SecretHolder, most: NetworkPolicy): Promise<void> {
    try {
      const isBehind = secretIds.length > 0 || !isDeepStrictEqual((await this.boundsOf(ownerId)).most, most);
      if (isBehind) await this.#again(id);
    } catch (error) {
      await this.#closeUntilDone(id, error);
    }
  }

  async #acceptable(parsed: ParsedNetwork, most: NetworkPolicy, parameter: string): Promise<NetworkPolicy> {
    if (parsed.setting.mode !== 'open') this.assertPolicies(parameter);
    await assertNoPublicSuffix(parameter, hostsOf(parsed));
    return intersectPolicies(parameter, policyOf(parsed), most);
  }

  #learned(id: string, most: NetworkPolicy): LearningPolicy | null {
    const until = this.learnsUntil(id);
    if (until === null || most.mode === 'none') return null;
    return {
      mode: 'learn',
      open: most.mode === 'open',
      rules: most.mode === 'rules' ? most.rules : [],
      until,
    };
  }

  async #closeUntilDone(id: string, error: unknown): Promise<void> {
    const { runtime, unfinished, log } = this.#deps;
    log.error('a network policy is not in force, and the sandbox has no network', { sandbox: id, error });
    await runtime.setNetwork(id, { mode: 'none' }).catch((cause: unknown) => {
      log.error('the network of a sandbox could not be closed', { sandbox: id, error: cause });
    });
    unfinished.add(`network of ${id}`, () => this.#again(id));
  }

  async #again(id: string): Promise<void> {
    const put = async (sandbox: Sandbox) => {
      if (sandbox.state === 'started') await this.put(sandbox);
    };
    await this.#deps.inTurn(id, put).catch((error: unknown) => {
      const isGone = error instanceof SandhavenError && error.code === 'not_found';
      if (!isGone) throw error;
    });
  }
}

function noPolicies(parameter: string | undefined): SandhavenError {
  const hint =
    parameter === undefined
      ? 'Networks of sandboxes are open here; a NetworkPolicy of the cluster, and the log of what enforces it, take its place.'
      : 'Leave network out, or set it to open.';
  return new SandhavenError('failed_precondition', 'The engine of this service has no network policies.', {
    ...(parameter === undefined ? {} : { parameter }),
    hint,
  });
}

function nothingToLearn(): SandhavenError {
  return new SandhavenError('failed_precondition', 'The ceiling allows the sandbox no network at all.', {
    hint: 'An administrator raises it first: --most-network, or SetUserNetwork and SetTeamNetwork.',
  });
}

function notInForce(cause: unknown): SandhavenError {
  return new SandhavenError(
    'unavailable',
    'The network policy is stored, and is not in force yet. Until it is, the sandbox has no network.',
    { hint: 'The service goes on trying; repeat the call to try at once.' },
    cause,
  );
}
