/** Sandbox.ListRegions and Sandbox.WhoAmI */
import { z } from 'zod';
import { defineTool } from './base/tool.ts';

const input = z.strictObject({});
const annotations = {
  readOnlyHint: true,
  destructiveHint: false,
  idempotentHint: true,
  openWorldHint: false,
};

export const listRegions = defineTool({
  name: 'Sandbox.ListRegions',
  title: 'List regions',
  description: 'Lists the regions that sandboxes run in: id, name, location (country, city).',
  input,
  output: z.looseObject({
    regions: z.array(
      z.looseObject({
        id: z.string(),
        name: z.string(),
        location: z.looseObject({ country: z.string(), city: z.string() }),
      }),
    ),
  }),
  annotations,
  async handler(_parameters, { services }) {
    const regions = services.identity.regions();
    return { regions: regions.map((region) => ({ ...region, location: { ...region.location } })) };
  },
});

export const whoAmI = defineTool({
  name: 'Sandbox.WhoAmI',
  title: 'Who am I',
  description: 'Shows the owner of this API key: user_id, name and email.',
  input,
  output: z.looseObject({
    ...{ user_id: z.string(), name: z.string(), email: z.string() },
    team: z
      .looseObject({ id: z.string(), name: z.string(), role: z.string(), as_admin: z.boolean().optional() })
      .optional()
      .describe('Team that the call acts for; of an admin who reads inside (as_admin), any owner.')
      .meta({ unlisted: true }),
  }),
  annotations,
  async handler(_parameters, { caller }) {
    const { id: user_id, name, email, team } = caller;
    if (!team) return { user_id, name, email };
    const actsFor = { id: team.id, name: team.name, role: team.role };
    return { user_id, name, email, team: { ...actsFor, ...(team.asAdmin ? { as_admin: true } : {}) } };
  },
});
