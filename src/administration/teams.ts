/** Actions on teams. */
import { z } from 'zod';
import { withoutUndefined } from '../catalog/base/tool.ts';
import { pageOf, pageOutput, pageParameters } from '../catalog/parameters/pagination.ts';
import type { TeamEntry } from '../control/people/teams.ts';
import { invalidArgument } from '../model/errors.ts';
import { quotaKinds } from '../model/quota.ts';
import { teamRoles } from '../model/team.ts';
import { defineAction } from './action.ts';
import {
  countsOf,
  ownerNetworksOutput,
  quotaParameters,
  team,
  teamName,
  teamRole,
  toOwnerNetworksView,
  toQuota,
  toUsageView,
  usageOutput,
  user,
} from './owners.ts';

/** View of a team in actions: its members and the use of its quota. */
const teamOutput = z.looseObject({
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

type TeamView = z.output<typeof teamOutput>;

function toTeamView({ team, members, quota, used, networks }: TeamEntry): TeamView {
  return {
    ...{ team_id: team.id, name: team.name, created_at: new Date(team.createdAt).toISOString() },
    members: members.map(({ userId, name, email, role, addedAt }) => ({
      ...{ user_id: userId, name, email, role, added_at: new Date(addedAt).toISOString() },
    })),
    usage: toUsageView(quota, used),
    networks: toOwnerNetworksView(networks),
  };
}

function teamRow({ team_id, name, members, usage }: TeamView): Record<string, unknown> {
  const people = members.map(({ email, role }) => (role === 'viewer' ? `${email} (viewer)` : email));
  return { team: team_id, name, members: people.join(', '), ...countsOf(usage, quotaKinds) };
}

export const createTeam = defineAction({
  name: 'CreateTeam',
  title: 'Create a team',
  description:
    'Creates a team without members: AddTeamMember adds them. A team owns sandboxes and snapshots, and has a quota of ' +
    'its own, by default that of a member.',
  role: 'admin',
  command: 'teams create',
  argument: 'name',
  input: z.strictObject({ name: teamName, ...quotaParameters }),
  output: teamOutput,
  async handler({ name, ...quota }, { services }) {
    return toTeamView(await services.teams.create(name, toQuota(quota)));
  },
  rows: (view) => [teamRow(view)],
});

export const updateTeam = defineAction({
  name: 'UpdateTeam',
  title: 'Update a team',
  description:
    'Changes name and quota of a team. A quota below the present use removes nothing: it refuses more.',
  role: 'admin',
  command: 'teams update',
  argument: 'team',
  input: z.strictObject({
    team,
    name: teamName.optional(),
    ...quotaParameters,
    default_quota: z
      .boolean()
      .default(false)
      .describe("Returns to the service's default quota, except for the kinds given here."),
  }),
  output: teamOutput,
  async handler({ team, name, default_quota: defaultQuota, ...given }, { services }) {
    const quota = toQuota(given);
    if (name === undefined && Object.keys(quota).length === 0 && !defaultQuota) {
      throw invalidArgument(
        'name',
        'Nothing to change: only the team was given.',
        'Give at least one field to change.',
      );
    }
    return toTeamView(
      await services.teams.update(team, { ...withoutUndefined({ name }), quota, defaultQuota }),
    );
  },
  rows: (view) => [teamRow(view)],
});

export const deleteTeam = defineAction({
  name: 'DeleteTeam',
  title: 'Delete a team',
  description: 'Deletes a team with its keys. Refused while it owns sandboxes or snapshots.',
  role: 'admin',
  command: 'teams delete',
  argument: 'team',
  input: z.strictObject({ team }),
  output: z.looseObject({ team_id: z.string(), name: z.string(), deleted: z.literal(true) }),
  async handler({ team }, { services }) {
    const { id, name } = await services.teams.delete(team);
    return { team_id: id, name, deleted: true as const };
  },
});

export const listTeams = defineAction({
  name: 'ListTeams',
  title: 'List teams',
  description:
    'Lists the teams that you are in, or as an admin all, with their members, usage and quota. Act for one with the ' +
    'header Sandhaven-Team, --team or SANDHAVEN_TEAM.',
  role: 'member',
  command: 'teams list',
  input: z.strictObject({ ...pageParameters }),
  output: z.looseObject({ teams: z.array(teamOutput), ...pageOutput }),
  async handler(parameters, { services, caller }) {
    const { page, page_size: pageSize } = parameters;
    const { teams, totalCount } = await services.teams.list(caller, { page, pageSize });
    return { teams: teams.map(toTeamView), ...pageOf(totalCount, parameters) };
  },
  rows: ({ teams }) => teams.map(teamRow),
});

export const addTeamMember = defineAction({
  name: 'AddTeamMember',
  title: 'Add a member to a team',
  description:
    'Adds a user to a team, or changes the role of one who is in it. A changed role ends what the user has open in the ' +
    "team's sandboxes, and all SSH access and previews of these.",
  role: 'admin',
  command: 'teams add',
  argument: 'team',
  input: z.strictObject({ team, user, role: teamRole.default('member') }),
  output: teamOutput,
  async handler({ team, user, role }, { services }) {
    return toTeamView(await services.teams.setMember(team, user, role));
  },
  rows: (view) => [teamRow(view)],
});

export const removeTeamMember = defineAction({
  name: 'RemoveTeamMember',
  title: 'Remove a member from a team',
  description:
    "Removes a user from a team, and ends at once what the user has open in the team's sandboxes. All SSH access and " +
    'previews of these end too, since their tokens name no person: those who stay ask for new ones.',
  role: 'admin',
  command: 'teams remove',
  argument: 'team',
  input: z.strictObject({ team, user }),
  output: teamOutput,
  async handler({ team, user }, { services }) {
    return toTeamView(await services.teams.removeMember(team, user));
  },
  rows: (view) => [teamRow(view)],
});
