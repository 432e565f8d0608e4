/** View of a team in actions: its members and the use of its quota. */
import { z } from 'zod';
import type { TeamEntry } from '../../control/teams/teams.ts';
import { teamRoles } from '../../model/access/team.ts';
import { quotaKinds } from '../../model/quota.ts';
import { ownerNetworksOutput, toOwnerNetworksView } from '../networks/owner-network-view.ts';
import { countsOf, toUsageView, usageOutput } from '../users/usage-view.ts';

export const teamOutput = z.looseObject({
  team_id: z.string(),
  name: z.string(),
  created_at: z.string(),
  members: z.array(
    z.looseObject({
      user_id: z.string(),
      name: z.string(),
      email: z.string(),
      role: z.enum(teamRoles),
      added_at: z.string(),
    }),
  ),
  usage: usageOutput,
  networks: ownerNetworksOutput,
});

export type TeamView = z.output<typeof teamOutput>;

export function toTeamView({ team, members, quota, used, networks }: TeamEntry): TeamView {
  return {
    ...{ team_id: team.id, name: team.name, created_at: new Date(team.createdAt).toISOString() },
    members: members.map(({ userId, name, email, role, addedAt }) => ({
      ...{ user_id: userId, name, email, role, added_at: new Date(addedAt).toISOString() },
    })),
    usage: toUsageView(quota, used),
    networks: toOwnerNetworksView(networks),
  };
}

export function teamRow({ team_id, name, members, usage }: TeamView): Record<string, unknown> {
  const people = members.map(({ email, role }) => (role === 'viewer' ? `${email} (viewer)` : email));
  return { team: team_id, name, members: people.join(', '), ...countsOf(usage, quotaKinds) };
}
