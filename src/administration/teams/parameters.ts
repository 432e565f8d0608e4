/** Parameters of a team. */
import { z } from 'zod';
import { text } from '../../catalog/parameters/text.ts';
import { teamNamePattern, teamRoles } from '../../model/access/team.ts';
import { limits } from '../../model/limits.ts';

export const team = text().min(1).max(limits.teams.nameChars).describe('Team name or ID.');

export const teamName = z
  .string()
  .min(1)
  .max(limits.teams.nameChars)
  .regex(teamNamePattern, 'must be letters, digits, dot, underscore and hyphen, and not begin with team_')
  .describe('Name; no two teams have the same.');

export const teamRole = z
  .enum(teamRoles)
  .describe('member works with all that the team owns; viewer sees it and changes nothing.');
