/** The team that a caller acts for: the one that its key is bound to, or the one that the request names. */
import { withinTeam } from '../../model/access/scopes.ts';
import { isTeamReference, type Membership } from '../../model/access/team.ts';
import { notFound, SandhavenError } from '../../model/errors.ts';
import { limits } from '../../model/limits.ts';
import type { Caller } from '../../model/user.ts';
import type { TeamStore } from '../ports/index.ts';

/**
 * Returns the caller as acting for a team; unchanged where neither key nor request names one. Rejects with the same
 * `not_found` for a team that is not there as for one that the caller is not in.
 * @param wanted Name or id of a team.
 */
export async function actingFor(
  teams: Pick<TeamStore, 'membership'>,
  caller: Caller,
  wanted: string | undefined,
): Promise<Caller> {
  const { boundTo } = caller;
  if (boundTo === undefined && wanted === undefined) return caller;
  const found = await membershipOf(teams, boundTo ?? wanted ?? '', caller.id);
  if (!found) throw noTeam(boundTo === undefined ? (wanted ?? '') : boundTo);
  if (boundTo !== undefined && wanted !== undefined && !isNamed(found, wanted)) throw boundElsewhere();
  return withinTeam(caller, found);
}

async function membershipOf(
  teams: Pick<TeamStore, 'membership'>,
  idOrName: string,
  userId: string,
): Promise<Membership | null> {
  return isTeamReference(idOrName) ? teams.membership(idOrName, userId) : null;
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
