/** ListAllSandboxes: lists the sandboxes of all owners, for admins. */
import { z } from 'zod';
import { pageOf, pageOutput, pageParameters } from '../../catalog/parameters/pagination.ts';
import { timestamp } from '../../catalog/sandbox-view.ts';
import type { OwnedSandbox } from '../../control/ports/index.ts';
import { sandboxStates } from '../../model/sandbox.ts';
import { defineAction } from '../action.ts';
import { user } from '../users/parameters.ts';

const ownedOutput = z.looseObject({
  id: z.string(),
  name: z.string(),
  owner: z.looseObject({ id: z.string(), name: z.string(), email: z.string().nullable() }),
  state: z.enum(sandboxStates),
  operation: z.string().optional(),
  state_reason: z.string().optional(),
  image: z.string(),
  resources: z.looseObject({ cpu: z.int(), memory: z.int(), disk: z.int(), gpu: z.int() }),
  created_at: z.string(),
  last_activity_at: z.string(),
});

export const listAllSandboxes = defineAction({
  name: 'ListAllSandboxes',
  title: "List everybody's sandboxes",
  description:
    'Lists the sandboxes of all owners, newest first, by owner or state where given. It shows nothing from inside: no ' +
    'files, no output, no environment, no labels. may_read_inside says whether the operator lets admins read there, as ' +
    'viewers, by naming the owner where a member names a team.',
  role: 'admin',
  command: 'everybody list',
  argument: 'owner',
  input: z.strictObject({
    owner: user.optional().describe('Only those of this owner: ID or email of a user, ID or name of a team.'),
    state: z.enum(sandboxStates).optional().describe('Only those in this state.'),
    ...pageParameters,
  }),
  output: z.looseObject({ sandboxes: z.array(ownedOutput), may_read_inside: z.boolean(), ...pageOutput }),
  async handler(parameters, { services }) {
    const { owner, state, page, page_size: pageSize } = parameters;
    const { sandboxes, totalCount } = await services.everybody.list({ owner, state }, { page, pageSize });
    const rights = { may_read_inside: services.teams.adminsReadInside };
    return { sandboxes: sandboxes.map(toOwnedView), ...rights, ...pageOf(totalCount, parameters) };
  },
  rows: ({ sandboxes }) =>
    sandboxes.map(({ id, name, owner, state, operation, resources, last_activity_at }) => ({
      ...{
        sandbox: id,
        name,
        owner: owner.email ?? owner.name,
        state: operation ? `${state} (${operation})` : state,
      },
      ...{ cpu: resources.cpu, memory: resources.memory, disk: resources.disk, used: last_activity_at },
    })),
});

function toOwnedView(sandbox: OwnedSandbox): z.output<typeof ownedOutput> {
  const { id, name, owner, state, operation, stateReason, image, resources } = sandbox;
  return {
    ...{ id, name, state, image, owner: { ...owner }, resources: { ...resources } },
    ...(operation === null ? {} : { operation }),
    ...(stateReason === null ? {} : { state_reason: stateReason }),
    created_at: timestamp(sandbox.createdAt),
    last_activity_at: timestamp(sandbox.lastActivityAt),
  };
}
