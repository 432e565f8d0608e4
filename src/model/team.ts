/** Teams: owners of sandboxes, snapshots and quotas, for whom several users act. */
import { isTeamId } from './ids.ts';
import { limits } from './limits.ts';
import type { Quota } from './quota.ts';

/** A member acts for the team; a viewer sees what it owns. */
export const teamRoles = ['member', 'viewer'] as const;
export type TeamRole = (typeof teamRoles)[number];

export interface Team {
  id: string;
  /** No two teams have the same, whatever its case. */
  name: string;
  createdAt: number;
  /** Quota of this team in place of the service's default for members. */
  quota: Partial<Quota>;
}

/** A user in a team. */
export interface TeamMember {
  userId: string;
  name: string;
  email: string;
  role: TeamRole;
  addedAt: number;
}

/** A team, from the side of one of its members. */
export interface Membership extends Pick<Team, 'id' | 'name'> {
  role: TeamRole;
  /** true: the user is in no such team. An admin reads inside what this owner has, a team or another user. */
  asAdmin?: true;
}

/** Words that a header, a command line and a URL carry as they are; none looks like an id. */
export const teamNamePattern = /^(?!team_)[A-Za-z0-9][A-Za-z0-9._-]*$/;

/** Returns true for what may be the name or the id of a team. */
export function isTeamReference(text: string): boolean {
  return text.length <= limits.teams.nameChars && (teamNamePattern.test(text) || isTeamId(text));
}

/** Returns true for what may name an owner: a team, or a user by id or email. Each is something that a header carries. */
export function isOwnerReference(text: string): boolean {
  return (
    isTeamReference(text) || (text.length <= limits.userEmailChars && /^[!-?A-~]+@[!-?A-~]+$/.test(text))
  );
}

/** Name of the right of open work that a user does for a team, and of the message that it is over. */
export function membershipId(teamId: string, userId: string): string {
  return `${teamId}/${userId}`;
}

/** Name of the right of open work for which an admin reads inside another owner's sandboxes. */
export function readingId(userId: string): string {
  return `reading/${userId}`;
}
