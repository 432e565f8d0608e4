/** Network policies of a caller's sandboxes, for the actions: shown, set, and changed rule by rule. */
import { SandhavenError } from '../../model/errors.ts';
import { limits } from '../../model/limits.ts';
import type { NetworkPolicy } from '../../model/network/policy.ts';
import { type NetworkRequest, withoutWords, withWords } from '../../model/network/setting.ts';
import type { NetworkSetting, Sandbox } from '../../model/sandbox.ts';
import { ownerIdOf, type User } from '../../model/user.ts';
import type { SandboxStore } from '../ports/index.ts';
import type { Networks } from '../reach/networks.ts';
import { resolveSandbox } from '../turns/resolve.ts';
import type { Turns } from '../turns/turns.ts';
import type { Learning } from './learning.ts';
import type { NetworkLog, NetworkLogPage, NetworkLogQuery } from './network-log.ts';
import type { ShownTraffic, TrafficWatch } from './traffic/traffic-watch.ts';

export interface ShownNetwork {
  sandboxId: string;
  setting: NetworkSetting;
  /** Within the ceilings of the owner and of the installation. */
  inForce: NetworkPolicy;
  /** Until then the sandbox learns, with another policy in force; null when it does not. */
  learnsUntil: number | null;
  /** null where nobody counts it. */
  traffic: ShownTraffic | null;
}

/** The log itself is what a slow follower has not taken yet, so following takes no room. */
export interface FollowedLog {
  sandboxId: string;
  /** Returns the next events; null when there are none. */
  take(): NetworkLogPage | null;
  end(): void;
}

export interface NetworkServiceDependencies {
  store: SandboxStore;
  machines: Pick<Turns, 'change'>;
  networks: Networks;
  events: Pick<NetworkLog, 'page' | 'follow'>;
  learning: Pick<Learning, 'end'>;
  traffic: Pick<TrafficWatch, 'of'> | null;
}

/**
 * Changes are stored, then put in force, in the sandbox's turn; what a kill leaves in between, the next start repairs. A
 * change rejects with `unavailable` where the engine fails: then the sandbox has no network until a later try succeeds.
 */
export class NetworkService {
  readonly #deps: NetworkServiceDependencies;

  constructor(dependencies: NetworkServiceDependencies) {
    this.#deps = dependencies;
  }

  async get(caller: User, reference: string): Promise<ShownNetwork> {
    return this.#shown(await resolveSandbox(this.#deps.store, caller, reference));
  }

  /** Shows what the sandbox reached, and what it was refused. Rejects with `failed_precondition` without policies. */
  async log(caller: User, reference: string, query: NetworkLogQuery): Promise<NetworkLogPage> {
    const { id } = await this.#logged(caller, reference);
    return this.#deps.events.page(id, query);
  }

  /** Follows the log of a sandbox from its present end. Rejects like `log`. */
  async follow(caller: User, reference: string, wake: () => void): Promise<FollowedLog> {
    const { id: sandboxId } = await this.#logged(caller, reference);
    const { events } = this.#deps;
    let after = events.page(sandboxId, { limit: 1 }).next;
    return {
      sandboxId,
      end: events.follow(sandboxId, wake),
      take() {
        const page = events.page(sandboxId, { after, limit: limits.network.eventsSent });
        after = page.next;
        return page.events.length === 0 && page.dropped === 0 ? null : page;
      },
    };
  }

  async set(caller: User, reference: string, request: NetworkRequest): Promise<ShownNetwork> {
    const { networks } = this.#deps;
    const { setting } = await networks.accept(request, await networks.boundsOf(ownerIdOf(caller)));
    const sandbox = await resolveSandbox(this.#deps.store, caller, reference);
    return this.#change(sandbox, () => setting);
  }

  /** Adds rules and profiles. Rejects with `failed_precondition` for an open network, which it would narrow. */
  async allow(caller: User, reference: string, words: readonly string[]): Promise<ShownNetwork> {
    const sandbox = await resolveSandbox(this.#deps.store, caller, reference);
    const { networks } = this.#deps;
    const { most } = await networks.boundsOf(sandbox.ownerId);
    const added = withWords('rules', { mode: 'rules', profiles: [], allow: [] }, words);
    await networks.assertAcceptable(added, most, 'rules');
    return this.#change(sandbox, (present) => {
      if (present.mode === 'open') throw openAlready();
      return withWords('rules', present, words);
    });
  }

  /** Removes rules and profiles. Rejects with `invalid_argument` for one that is not there. */
  async deny(caller: User, reference: string, words: readonly string[]): Promise<ShownNetwork> {
    const sandbox = await resolveSandbox(this.#deps.store, caller, reference);
    return this.#change(sandbox, (present) => withoutWords('rules', present, words));
  }

  async #logged(caller: User, reference: string): Promise<Sandbox> {
    this.#deps.networks.assertPolicies();
    return resolveSandbox(this.#deps.store, caller, reference);
  }

  /** Ends the learning of rules: what is asked for now counts at once. */
  async #change(
    { id, ownerId }: Sandbox,
    next: (present: NetworkSetting) => NetworkSetting,
  ): Promise<ShownNetwork> {
    const { machines, networks, learning } = this.#deps;
    const { most } = await networks.boundsOf(ownerId);
    const patch = ({ network }: Sandbox) => {
      const changed = next(network);
      networks.inForce(changed, most, 'rules');
      return { network: changed };
    };
    const apply = (sandbox: Sandbox) => {
      learning.end(id);
      return networks.apply(sandbox);
    };
    return this.#shown(await machines.change(id, patch, apply));
  }

  async #shown({ id, ownerId, network }: Sandbox): Promise<ShownNetwork> {
    const { networks, traffic } = this.#deps;
    const { most } = await networks.boundsOf(ownerId);
    return {
      ...{ sandboxId: id, setting: network, inForce: networks.inForce(network, most) },
      learnsUntil: networks.learnsUntil(id),
      traffic: (await traffic?.of(id, ownerId ?? id)) ?? null,
    };
  }
}

function openAlready(): SandhavenError {
  return new SandhavenError(
    'failed_precondition',
    'The network of the sandbox is open: it allows all that is public.',
    {
      parameter: 'rules',
      hint: 'Call SetNetwork with the rules, or with none, to narrow it first.',
    },
  );
}
