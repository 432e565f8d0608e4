/**
 * Network policies of machines, with the secrets that their requests carry. The store says what is meant for each sandbox;
 * this puts both in force together, the policy within the installation's ceiling. What cannot be put in force leaves the
 * machine without a network, and is tried again.
 */
import type { Unfinished } from '../../concurrency/unfinished.ts';
import { SandhavenError } from '../../model/errors.ts';
import { intersectPolicies } from '../../model/network/intersection.ts';
import type { LearningPolicy, NetworkPolicy } from '../../model/network/policy.ts';
import { assertNoPublicSuffix } from '../../model/network/public-suffix.ts';
import {
  hostsOf,
  isSameNetwork,
  type NetworkRequest,
  type NetworkSetting,
  parseNetwork,
  policyOf,
} from '../../model/network/setting.ts';
import type { Sandbox } from '../../model/sandbox.ts';
import type { Log, Runtime } from '../ports/index.ts';
import type { SecretHolder, SecretUses } from '../secrets/secret-uses.ts';

/** Networks of an installation, as its operator has set them. */
export interface InstallationNetworks {
  /** Of a sandbox whose creation asks for none. */
  usual: NetworkSetting;
  /** The most that any sandbox reaches, whatever its own allows. */
  most: NetworkSetting;
}

export interface NetworkDependencies {
  runtime: Pick<Runtime, 'capabilities' | 'setNetwork'>;
  secrets: Pick<SecretUses, 'of'>;
  installation: InstallationNetworks;
  /** Runs work in the sandbox's turn, with its settled row. Rejects with `not_found` once it is gone. */
  inTurn(id: string, work: (sandbox: Sandbox) => Promise<void>): Promise<unknown>;
  unfinished: Pick<Unfinished, 'add'>;
  log: Log;
}

export type Networked = SecretHolder & Pick<Sandbox, 'network'>;

export class Networks {
  readonly #d: NetworkDependencies;
  readonly #most: NetworkPolicy;
  /** Ends of learning, by sandbox. */
  readonly #learning = new Map<string, number>();

  constructor(dependencies: NetworkDependencies) {
    this.#d = dependencies;
    this.#most = policyOf(dependencies.installation.most);
  }

  /** Network of sandboxes that ask for none; those of the warm pool have it. */
  get usual(): NetworkSetting {
    return this.#d.installation.usual;
  }

  /**
   * Returns what a request means. Rejects, before anything happens, with `invalid_argument` naming the part of the
   * parameter, and with `failed_precondition` where the engine has no policies.
   */
  async accept(request: NetworkRequest | undefined, parameter = 'network'): Promise<NetworkSetting> {
    if (request === undefined) return this.usual;
    const setting = parseNetwork(parameter, request);
    await this.assertAcceptable(setting, parameter);
    return setting;
  }

  /** Rejects like `accept`. */
  async assertAcceptable(setting: NetworkSetting, parameter: string): Promise<void> {
    if (setting.mode !== 'open') this.assertPolicies(parameter);
    await assertNoPublicSuffix(parameter, hostsOf(setting));
    this.inForce(setting, parameter);
  }

  /** Returns what is in force of a setting, within the ceiling. Throws `invalid_argument` for too many rules. */
  inForce(setting: NetworkSetting, parameter = 'network'): NetworkPolicy {
    return intersectPolicies(parameter, policyOf(setting), this.#most);
  }

  /** Returns true when a machine of the warm pool has this network in force already, whoever owns it. */
  isReadyInPool(setting: NetworkSetting): boolean {
    return isSameNetwork(setting, this.usual) && this.inForce(setting).mode !== 'rules';
  }

  /** Throws `failed_precondition` where the engine has no policies. */
  assertPolicies(parameter?: string): void {
    if (!this.#d.runtime.capabilities.networkPolicies) throw noPolicies(parameter);
  }

  /**
   * Lets a sandbox reach all that the ceiling allows, in place of what is set for it, until then; null ends that. Takes effect
   * when it is put in force. Kept in memory alone: a restart of the service ends it.
   */
  learn(id: string, until: number | null): void {
    if (until === null) this.#learning.delete(id);
    else if (this.#most.mode !== 'none') this.#learning.set(id, until);
    else throw nothingToLearn();
  }

  /** Time by which the sandbox stops to learn; null where it does not learn. */
  learnsUntil(id: string): number | null {
    return this.#learning.get(id) ?? null;
  }

  /** Puts policy and secrets in force, before a start and at a claim. */
  async put(sandbox: Networked): Promise<void> {
    const secrets = await this.#d.secrets.of(sandbox);
    const policy = this.#learned(sandbox.id) ?? this.inForce(sandbox.network);
    await this.#d.runtime.setNetwork(sandbox.id, policy, secrets);
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

  #learned(id: string): LearningPolicy | null {
    const until = this.learnsUntil(id);
    if (until === null) return null;
    const most = this.#most;
    return {
      mode: 'learn',
      open: most.mode === 'open',
      rules: most.mode === 'rules' ? most.rules : [],
      until,
    };
  }

  async #closeUntilDone(id: string, error: unknown): Promise<void> {
    const { runtime, unfinished, log } = this.#d;
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
    await this.#d.inTurn(id, put).catch((error: unknown) => {
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
  return new SandhavenError(
    'failed_precondition',
    "The installation's ceiling allows sandboxes no network at all.",
    { hint: 'An administrator raises --most-network first.' },
  );
}

function notInForce(cause: unknown): SandhavenError {
  return new SandhavenError(
    'unavailable',
    'The network policy is stored, and is not in force yet. Until it is, the sandbox has no network.',
    { hint: 'The service goes on trying; repeat the call to try at once.' },
    cause,
  );
}
