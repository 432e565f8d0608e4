/** AddTeamMember and RemoveTeamMember. */
import { z } from 'zod';
import { defineAction } from '../action.ts';
import { user } from '../users/parameters.ts';
import { team, teamRole } from './parameters.ts';
import { teamOutput, teamRow, toTeamView } from './team-view.ts';

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
