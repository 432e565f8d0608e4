/** ListTeams: lists teams with their members and the use of their quotas. */
import { z } from 'zod';
import { pageOf, pageOutput, pageParameters } from '../../catalog/parameters/pagination.ts';
import { defineAction } from '../action.ts';
import { teamOutput, teamRow, toTeamView } from './team-view.ts';

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
