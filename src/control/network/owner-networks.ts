/** Default networks and ceilings of users and teams, which admins set. */
import { notFound } from '../../model/errors.ts';
import { assertNoPublicSuffix } from '../../model/network/host-pattern.ts';
import type { NetworkPolicy } from '../../model/network/policy.ts';
import {
  hostsOf,
  installationNetworks,
  type NetworkRequest,
  type OwnerNetworks,
  parseNetwork,
} from '../../model/network/setting.ts';
import type { NetworkSetting } from '../../model/sandbox.ts';
import { concernsUser } from '../audit/scope.ts';
import type { OwnerNetworkStore } from '../ports/index.ts';
import type { NetworkBounds } from '../reach/bounds.ts';
import type { Networks } from '../reach/networks.ts';
import type { RunningSandboxes } from './running-sandboxes.ts';

/** `default`: the installation's again. */
export type OwnerNetworkRequest = NetworkRequest | 'default';

export interface OwnerNetworkChange {
  usual?: OwnerNetworkRequest | undefined;
  most?: OwnerNetworkRequest | undefined;
}

export interface ShownOwnerNetworks extends OwnerNetworks {
  /** The most that the owner's sandboxes reach, within the installation's ceiling. */
  inForce: NetworkPolicy;
}

export interface OwnerNetworkDependencies {
  store: OwnerNetworkStore;
  networks: Pick<Networks, 'assertPolicies'>;
  bounds: NetworkBounds;
  running: Pick<RunningSandboxes, 'reach'>;
}

/**
 * A change is stored, then put in force in the owner's running sandboxes. What a kill leaves in between, the adoption by the
 * next process repairs, which reads the store.
 */
export class OwnerNetworkService {
  readonly #deps: OwnerNetworkDependencies;

  constructor(dependencies: OwnerNetworkDependencies) {
    this.#deps = dependencies;
  }

  /**
   * Changes what is given; shows what there is when nothing is. Rejects with `failed_precondition` where the engine has no
   * policies, and with `unavailable` where a ceiling is stored and not in force everywhere yet.
   * @param name Of the owner, for people.
   */
  async set(owner: { id: string; name: string }, change: OwnerNetworkChange): Promise<ShownOwnerNetworks> {
    const { store, bounds, running } = this.#deps;
    concernsUser(owner.id);
    const [usual, most] = [
      await this.#parsed('default_network', change.usual),
      await this.#parsed('most_network', change.most),
    ];
    bounds.with({ ...installationNetworks, most: most ?? null }, 'most_network');
    const patch = { ...(usual === undefined ? {} : { usual }), ...(most === undefined ? {} : { most }) };
    const isChange = Object.keys(patch).length > 0;
    const stored = isChange ? await store.set(owner.id, patch) : await store.of(owner.id);
    if (!stored)
      throw notFound('owner', `'${owner.name}' was deleted.`, 'ListTeams shows those that there are.');
    // Those that are made meanwhile find the new ceiling by themselves (`Networks.catchUp`).
    if (most !== undefined)
      await running.reach(await store.running(owner.id), `the ceiling of '${owner.name}'`);
    return { ...stored, inForce: bounds.with(stored).most };
  }

  /** undefined: nothing was given. */
  async #parsed(
    parameter: string,
    request: OwnerNetworkRequest | undefined,
  ): Promise<NetworkSetting | null | undefined> {
    if (request === undefined) return undefined;
    if (request === 'default') return null;
    const parsed = parseNetwork(parameter, request);
    if (parsed.setting.mode !== 'open') this.#deps.networks.assertPolicies(parameter);
    await assertNoPublicSuffix(parameter, hostsOf(parsed));
    return parsed.setting;
  }
}
