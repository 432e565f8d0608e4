/** Networks that an owner's sandboxes have by default and at most: the installation's, with what an admin set for the owner. */
import { intersectPolicies } from '../../model/network/intersection.ts';
import type { NetworkPolicy } from '../../model/network/policy.ts';
import { type OwnerNetworks, parsedOf, policyOf } from '../../model/network/setting.ts';
import type { NetworkSetting } from '../../model/sandbox.ts';
import type { OwnerNetworkStore } from '../ports/index.ts';

/** Networks of an installation, as its operator has set them. */
export interface InstallationNetworks {
  /** Of a sandbox whose creation asks for none. */
  usual: NetworkSetting;
  /** The most that any sandbox reaches, whatever its own allows. */
  most: NetworkSetting;
}

/** Bounds of one owner at one moment. */
export interface Bounds {
  usual: NetworkSetting;
  /** Within the owner's ceiling and the installation's. */
  most: NetworkPolicy;
}

export class NetworkBounds {
  readonly #store: Pick<OwnerNetworkStore, 'of'>;
  readonly #installation: InstallationNetworks;
  readonly #most: NetworkPolicy;

  constructor(store: Pick<OwnerNetworkStore, 'of'>, installation: InstallationNetworks) {
    this.#store = store;
    this.#installation = installation;
    this.#most = policyOf(parsedOf(installation.most));
  }

  /** Those of the installation: sandboxes of the warm pool have them, which nobody owns. */
  get ofNobody(): Bounds {
    return { usual: this.#installation.usual, most: this.#most };
  }

  /** Reads the store each time: a ceiling that an admin has set counts from the next look on. */
  async of(ownerId: string | null): Promise<Bounds> {
    return ownerId === null ? this.ofNobody : this.with(await this.#store.of(ownerId));
  }

  /** Throws `invalid_argument` naming the parameter where both ceilings together take too many rules. */
  with({ usual, most }: OwnerNetworks, parameter = 'network'): Bounds {
    const { usual: ofAll } = this.#installation;
    if (most === null) return { usual: usual ?? ofAll, most: this.#most };
    return {
      usual: usual ?? ofAll,
      most: intersectPolicies(parameter, policyOf(parsedOf(most)), this.#most),
    };
  }
}
