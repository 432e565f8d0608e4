/** Store of teams and their members. */
import type { Membership, Team, TeamMember, TeamRole } from '../../model/access/team.ts';
import type { Page } from './common.ts';

export type TeamPatch = Partial<Pick<Team, 'name' | 'quota'>>;

export interface TeamStore {
  /** Rejects with `already_exists` for a name that is taken, in any case; with `resource_exhausted` above the bound. */
  insert(team: Team): Promise<void>;
  /** Finds by id, or by name in any case. */
  find(idOrName: string): Promise<Team | null>;
  /** Lists in the order of creation; of one user, or all. */
  list(userId: string | null, page: Page): Promise<{ teams: Team[]; totalCount: number }>;
  /** Applies `change` in one transaction; null for an unknown id. Rejects with `already_exists` like `insert`. */
  update(id: string, change: (team: Team) => TeamPatch): Promise<Team | null>;
  /**
   * Removes the team with its memberships and its keys. Rejects with `failed_precondition` while it owns sandboxes or
   * snapshots. Returns false for an unknown id.
   */
  remove(id: string): Promise<boolean>;
  /** Lists by the time of joining. */
  members(id: string): Promise<TeamMember[]>;
  /**
   * Adds the user, or changes the role of one who is there. Returns the role before; null for none. Rejects with
   * `resource_exhausted` above a bound.
   */
  setMember(id: string, userId: string, role: TeamRole, now: number): Promise<TeamRole | null>;
  /** Returns false for a user who was not there. */
  removeMember(id: string, userId: string): Promise<boolean>;
  /** Returns null for a team that the user is not in, as for one that is not there. Finds like `find`. */
  membership(idOrName: string, userId: string): Promise<Membership | null>;
}
