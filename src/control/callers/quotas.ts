/** Quota of each owner, a user or a team: the service's defaults, with an admin's changes. */

import { isTeamId } from '../../model/ids.ts';
import { assertWithinQuota, isUnlimited, type Quota, type Usage, unlimited } from '../../model/quota.ts';
import type { Resources } from '../../model/sandbox.ts';
import type { Team } from '../../model/team.ts';
import type { Account } from '../../model/user.ts';
import type { Allowance, SandboxStore, SnapshotStore, TeamStore, UserStore } from '../ports/index.ts';

export interface QuotaDefaults {
  /** The operator's settings, for members and admins alike. */
  everybody: Partial<Quota>;
  /** Quota of members without an operator's setting; admins then have no limit. */
  members: Quota;
}

export interface QuotaDependencies {
  users: Pick<UserStore, 'findUser'>;
  teams: Pick<TeamStore, 'find'>;
  sandboxes: Pick<SandboxStore, 'usage'>;
  snapshots: Pick<SnapshotStore, 'count'>;
  defaults: QuotaDefaults;
  /** Returns the bytes of an owner's traffic of today; absent where nobody counts them. */
  trafficOf?: ((ownerId: string) => number) | undefined;
}

export class Quotas {
  readonly #deps: QuotaDependencies;

  constructor(dependencies: QuotaDependencies) {
    this.#deps = dependencies;
  }

  of({ role, quota }: Pick<Account, 'role' | 'quota'>): Quota {
    const { everybody, members } = this.#deps.defaults;
    return { ...(role === 'admin' ? unlimited : members), ...everybody, ...quota };
  }

  /** A team has a member's quota, unless it has one of its own. */
  ofTeam({ quota }: Pick<Team, 'quota'>): Quota {
    return this.of({ role: 'member', quota });
  }

  async usage(ownerId: string): Promise<Usage> {
    const { sandboxes, snapshots, trafficOf } = this.#deps;
    const used = { ...(await sandboxes.usage(ownerId)), snapshots: await snapshots.count(ownerId) };
    return trafficOf ? { ...used, trafficBytes: trafficOf(ownerId) } : used;
  }

  /** Returns the allowance that the store enforces in the transaction of the change. */
  async allowance(ownerId: string): Promise<Allowance> {
    if (isTeamId(ownerId)) {
      return { ownerId, quota: this.ofTeam((await this.#deps.teams.find(ownerId)) ?? { quota: {} }) };
    }
    const account = await this.#deps.users.findUser(ownerId);
    return { ownerId, quota: this.of(account ?? { role: 'member', quota: {} }) };
  }

  /**
   * Rejects with `resource_exhausted` when the quota has no room for so many more sandboxes of these sizes: an early check,
   * before long work.
   */
  async assertRoomFor(ownerId: string, { cpu, memory, disk }: Resources, count = 1): Promise<void> {
    const { quota } = await this.allowance(ownerId);
    if (isUnlimited(quota)) return;
    const used = await this.usage(ownerId);
    assertWithinQuota(quota, used, {
      sandboxes: used.sandboxes + count,
      cpu: used.cpu + count * cpu,
      memory: used.memory + count * memory,
      disk: used.disk + count * disk,
      snapshots: used.snapshots,
    });
  }
}
