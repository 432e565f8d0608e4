/** CreateTeam, UpdateTeam and DeleteTeam. */
import { z } from 'zod';
import { present } from '../../catalog/present.ts';
import { invalidArgument } from '../../model/errors.ts';
import { defineAction } from '../action.ts';
import { quotaParameters, toQuota } from '../users/parameters.ts';
import { team, teamName } from './parameters.ts';
import { teamOutput, teamRow, toTeamView } from './team-view.ts';

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
    return toTeamView(await services.teams.update(team, { ...present({ name }), quota, defaultQuota }));
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
