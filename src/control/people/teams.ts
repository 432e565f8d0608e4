/** Teams and their members: admins change them, and users see the teams that they are in, and act for them. */
import { mapBounded } from '../../concurrency/in-portions.ts';
import { notFound, SandhavenError } from '../../model/errors.ts';
import { newTeamId } from '../../model/ids.ts';
import { limits } from '../../model/limits.ts';
import type { OwnerNetworks } from '../../model/network/setting.ts';
import type { Quota, Usage } from '../../model/quota.ts';
import { waysInside } from '../../model/sandbox-access.ts';
import { withinTeam } from '../../model/scopes.ts';
import {
  isOwnerReference,
  isTeamReference,
  type Membership,
  membershipId,
  type Team,
  type TeamMember,
  type TeamRole,
} from '../../model/team.ts';
import type { Caller } from '../../model/user.ts';
import type { AccessService } from '../access/tokens.ts';
import type { CallerRights } from '../callers/caller-rights.ts';
import type { Quotas } from '../callers/quotas.ts';
import type { Clock, OwnerNetworkStore, Page, SandboxStore, TeamStore, UserStore } from '../ports/index.ts';

export interface TeamEntry {
  team: Team;
  members: TeamMember[];
  quota: Quota;
  used: Usage;
  networks: OwnerNetworks;
}

export interface TeamChange {
  name?: string;
  quota?: Partial<Quota>;
  /** Drops the team's earlier settings; `quota` applies after it. */
  defaultQuota?: boolean;
}

export interface TeamDependencies {
  store: TeamStore;
  users: Pick<UserStore, 'findUser'>;
  quotas: Quotas;
  networks: Pick<OwnerNetworkStore, 'of'>;
  callerRights: Pick<CallerRights, 'ended'>;
  access: Pick<TeamAccess, 'end'>;
  clock: Clock;
  /** true: admins read inside everybody's sandboxes. */
  adminsReadInside: boolean;
}

export class TeamService {
  readonly #deps: TeamDependencies;

  constructor(dependencies: TeamDependencies) {
    this.#deps = dependencies;
  }

  /** Returns the caller as acting for the team that its key is bound to, or for the owner that the request names. */
  acting(caller: Caller, wanted: string | undefined): Promise<Caller> {
    const { store: teams, users, adminsReadInside } = this.#deps;
    return actingFor({ teams, users, adminsReadInside }, caller, wanted);
  }

  /** true: an admin may name any owner to read inside. */
  get adminsReadInside(): boolean {
    return this.#deps.adminsReadInside;
  }

  async create(name: string, quota: Partial<Quota>): Promise<TeamEntry> {
    const team = { id: newTeamId(), name, createdAt: this.#deps.clock.now(), quota };
    await this.#deps.store.insert(team);
    return this.#entry(team);
  }

  /** Lists all teams for an admin, and their own for others. */
  async list(caller: Caller, page: Page): Promise<{ teams: TeamEntry[]; totalCount: number }> {
    const whose = caller.role === 'admin' ? null : caller.id;
    const { teams, totalCount } = await this.#deps.store.list(whose, page);
    return { teams: await Promise.all(teams.map((team) => this.#entry(team))), totalCount };
  }

  async update(idOrName: string, { name, quota, defaultQuota }: TeamChange): Promise<TeamEntry> {
    const { id } = await this.find(idOrName);
    const changed = await this.#deps.store.update(id, (team) => ({
      ...(name === undefined ? {} : { name }),
      quota: { ...(defaultQuota ? {} : team.quota), ...quota },
    }));
    return this.#entry(changed ?? (await this.find(id)));
  }

  /** Deletes a team that owns nothing, with its keys. */
  async delete(idOrName: string): Promise<Team> {
    const { store } = this.#deps;
    const team = await this.find(idOrName);
    const members = await store.members(team.id);
    if (!(await store.remove(team.id))) throw unknown(idOrName);
    for (const { userId } of members) this.#ended(team.id, userId);
    return team;
  }

  /** Adds a user, or changes the role of one who is there; a new role ends the work that was open under the old one. */
  async setMember(idOrName: string, user: string, role: TeamRole): Promise<TeamEntry> {
    const { store, access, clock } = this.#deps;
    const team = await this.find(idOrName);
    const { id: userId } = await this.#user(user);
    if (role === 'viewer') await access.end(team.id);
    const before = await store.setMember(team.id, userId, role, clock.now());
    // Anew, since a call may have made a token meanwhile; also where an earlier attempt failed in between.
    if (role === 'viewer' || (before !== null && before !== role)) await this.#left(team.id, userId);
    return this.#entry(team);
  }

  /**
   * Removes a member, and ends at once what is open for that member in the team's sandboxes. Access ends first, so that a
   * process which is killed in between leaves a member without access, and no access without a member.
   */
  async removeMember(idOrName: string, user: string): Promise<TeamEntry> {
    const team = await this.find(idOrName);
    const { id: userId } = await this.#user(user);
    await this.#deps.access.end(team.id);
    const removed = await this.#deps.store.removeMember(team.id, userId);
    // Anew, since a call may have made a token meanwhile.
    await this.#left(team.id, userId);
    if (!removed) {
      throw notFound('user', `'${user}' is not in team '${team.name}'.`, 'ListTeams shows the members.');
    }
    return this.#entry(team);
  }

  /** Ends access to the sandboxes of all teams of a user who may no longer enter any. */
  async endAccessOf(userId: string): Promise<void> {
    const { store, access } = this.#deps;
    for (let page = 1; ; page++) {
      const { teams, totalCount } = await store.list(userId, { page, pageSize: PAGE });
      for (const { id } of teams) await access.end(id);
      if (page * PAGE >= totalCount) return;
    }
  }

  /** Rejects with `not_found`. */
  async find(idOrName: string): Promise<Team> {
    const team = await this.#deps.store.find(idOrName);
    if (team) return team;
    throw unknown(idOrName);
  }

  async #user(idOrEmail: string) {
    const user = await this.#deps.users.findUser(idOrEmail);
    if (user) return user;
    throw notFound(
      'user',
      `There is no user '${idOrEmail}'.`,
      'ListUsers shows the ids and emails there are.',
    );
  }

  async #left(teamId: string, userId: string): Promise<void> {
    this.#ended(teamId, userId);
    await this.#deps.access.end(teamId);
  }

  #ended(teamId: string, userId: string): void {
    this.#deps.callerRights.ended(membershipId(teamId, userId));
  }

  async #entry(team: Team): Promise<TeamEntry> {
    const { store, quotas, networks } = this.#deps;
    const members = await store.members(team.id);
    const used = await quotas.usage(team.id);
    return { team, members, quota: quotas.ofTeam(team), used, networks: await networks.of(team.id) };
  }
}

const PAGE = 100;

function unknown(idOrName: string) {
  return notFound('team', `There is no team '${idOrName}'.`, 'ListTeams shows the names and ids there are.');
}

/**
 * Access to a team's sandboxes through the gateways. Tokens name no person, so when somebody leaves, all of them end,
 * and those who stay ask for new ones.
 */
export class TeamAccess {
  readonly #sandboxes: Pick<SandboxStore, 'names'>;
  readonly #access: Pick<AccessService, 'revoke'>;

  constructor(sandboxes: Pick<SandboxStore, 'names'>, access: Pick<AccessService, 'revoke'>) {
    this.#sandboxes = sandboxes;
    this.#access = access;
  }

  /** Ends every SSH token and every preview of the team's sandboxes, with their open connections. */
  async end(teamId: string): Promise<void> {
    const { sandboxes, accessEndedAtOnce } = limits.teams;
    const owned = await this.#sandboxes.names(teamId, sandboxes);
    await mapBounded(owned, accessEndedAtOnce, ({ id }) => this.#access.revoke(id, waysInside));
  }
}

/**
 * The owner that a caller acts for: the team that its key is bound to or that the request names, or whoever an admin
 * reads inside of, where the operator allows that.
 */
interface Owners {
  teams: Pick<TeamStore, 'find' | 'membership'>;
  users: Pick<UserStore, 'findUser'>;
  /** true: the operator lets admins read inside everybody's sandboxes. */
  adminsReadInside: boolean;
}

/**
 * Returns the caller as acting for an owner; unchanged where neither key nor request names one. Rejects with the same
 * `not_found` for a team that is not there as for one that the caller is not in, and for a user.
 * @param wanted Name or id of a team; from an admin who reads inside, also id or email of a user.
 */
async function actingFor(owners: Owners, caller: Caller, wanted: string | undefined): Promise<Caller> {
  const { boundTo } = caller;
  if (boundTo === undefined && wanted === undefined) return caller;
  if (caller.only) throw noTeam(wanted ?? '');
  const named = boundTo ?? wanted ?? '';
  const found =
    (await membershipOf(owners, named, caller.id)) ??
    (mayReadInside(owners, caller) ? await readerOf(owners, named) : null);
  if (!found) throw noTeam(named);
  if (boundTo !== undefined && wanted !== undefined && !isNamed(found, wanted)) throw boundElsewhere();
  return withinTeam(caller, found);
}

async function membershipOf({ teams }: Owners, idOrName: string, userId: string): Promise<Membership | null> {
  return isTeamReference(idOrName) ? teams.membership(idOrName, userId) : null;
}

/** A key without the scope `admin` acts as a member's, and a bound one for its team alone. */
function mayReadInside({ adminsReadInside }: Owners, { role, boundTo }: Caller): boolean {
  return adminsReadInside && role === 'admin' && boundTo === undefined;
}

/** Returns the admin's place beside the owner: that of a viewer of a team. */
async function readerOf({ teams, users }: Owners, wanted: string): Promise<Membership | null> {
  if (!isOwnerReference(wanted)) return null;
  const place = { role: 'viewer', asAdmin: true } as const;
  const team = isTeamReference(wanted) ? await teams.find(wanted) : null;
  if (team) return { id: team.id, name: team.name, ...place };
  const user = await users.findUser(wanted);
  return user && { id: user.id, name: user.email, ...place };
}

function isNamed({ id, name }: Membership, wanted: string): boolean {
  return wanted === id || wanted.toLowerCase() === name.toLowerCase();
}

export function noTeam(wanted: string): SandhavenError {
  return notFound(
    'team',
    `You are in no team '${wanted.slice(0, limits.teams.nameChars)}'.`,
    'ListTeams shows the teams that you are in; an admin adds members to a team.',
  );
}

function boundElsewhere(): SandhavenError {
  return new SandhavenError('permission_denied', 'The API key is bound to another team.', {
    hint: 'Leave the team out: the key acts for its own team alone.',
  });
}
