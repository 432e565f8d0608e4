/**
 * The owner that a caller acts for: the team that its key is bound to or that the request names, or whoever an admin reads
 * inside of, where the operator allows that.
 */
import { withinTeam } from '../../model/access/scopes.ts';
import { isOwnerReference, isTeamReference, type Membership } from '../../model/access/team.ts';
import { notFound, SandhavenError } from '../../model/errors.ts';
import { limits } from '../../model/limits.ts';
import type { Caller } from '../../model/user.ts';
import type { TeamStore, UserStore } from '../ports/index.ts';

export interface Owners {
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
export async function actingFor(owners: Owners, caller: Caller, wanted: string | undefined): Promise<Caller> {
  const { boundTo } = caller;
  if (boundTo === undefined && wanted === undefined) return caller;
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
