/** Actions on sandboxes of everybody, on the deadline of one, and on snapshots. */
import { z } from 'zod';
import { timestamp, toDeadlineView } from '../catalog/base/sandbox-view.ts';
import { pageOf, pageOutput, pageParameters } from '../catalog/parameters/pagination.ts';
import { sandbox } from '../catalog/parameters/sandbox.ts';
import { textWithoutNul } from '../catalog/parameters/scalars.ts';
import type { OwnedSandbox } from '../control/ports/index.ts';
import { limits } from '../model/limits.ts';
import { deadlineActions, sandboxStates } from '../model/sandbox.ts';
import { defineAction } from './action.ts';
import { user } from './owners.ts';

const anySandbox = textWithoutNul()
  .min(1)
  .max(limits.sandboxNameChars)
  .describe('ID, as ListAllSandboxes shows it: several owners may have one name.');

export const stopAnySandbox = defineAction({
  name: 'StopAnySandbox',
  title: "Stop anybody's sandbox",
  description:
    'Stops a sandbox of whichever owner; its disk stays, and its owner may start it again. An ephemeral one is deleted.',
  role: 'admin',
  command: 'everybody stop',
  argument: 'sandbox',
  input: z.strictObject({ sandbox: anySandbox }),
  output: z.looseObject({
    id: z.string(),
    name: z.string(),
    state: z.enum(sandboxStates),
    deleted: z.boolean(),
  }),
  handler: ({ sandbox: id }, { services }) => services.everybody.stop(id),
});

export const deleteAnySandbox = defineAction({
  name: 'DeleteAnySandbox',
  title: "Delete anybody's sandbox",
  description: 'Deletes a sandbox of whichever owner with its disk, for good, in any state.',
  role: 'admin',
  command: 'everybody delete',
  argument: 'sandbox',
  input: z.strictObject({ sandbox: anySandbox }),
  output: z.looseObject({ id: z.string(), name: z.string(), deleted: z.literal(true) }),
  async handler({ sandbox: id }, { services }) {
    return { ...(await services.everybody.delete(id)), deleted: true as const };
  },
});

const ownedOutput = z.looseObject({
  id: z.string(),
  name: z.string(),
  owner: z.looseObject({ id: z.string(), name: z.string(), email: z.string().nullable() }),
  state: z.enum(sandboxStates),
  operation: z.string().optional(),
  state_reason: z.string().optional(),
  image: z.string(),
  resources: z.looseObject({ cpu: z.int(), memory: z.int(), disk: z.int(), gpu: z.int() }),
  deadline_at: z.string().optional(),
  deadline_action: z.enum(deadlineActions).optional(),
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
    ...toDeadlineView(sandbox),
    created_at: timestamp(sandbox.createdAt),
    last_activity_at: timestamp(sandbox.lastActivityAt),
  };
}

const { max: mostSeconds } = limits.deadlineSeconds;

export const setSandboxDeadline = defineAction({
  name: 'SetSandboxDeadline',
  title: 'Set the deadline of a sandbox',
  description:
    'Sets a moment at which the service stops or deletes one of your sandboxes, or puts it to sleep, whatever runs in it, or moves ' +
    'or removes that moment. Activity does not move it, and auto_stop_minutes counts beside it. A stop and a sleep end the ' +
    'deadline; a deletion comes in any state of the sandbox. GetSandbox shows it.',
  role: 'member',
  scope: 'sandboxes:write',
  command: 'deadline set',
  argument: 'sandbox',
  input: z.strictObject({
    sandbox,
    seconds: z
      .int()
      .min(limits.deadlineSeconds.min)
      .max(mostSeconds)
      .describe(`Seconds from now (1–${mostSeconds}); 0 removes the deadline.`),
    action: z
      .enum(deadlineActions)
      .optional()
      .describe('What happens then: stop, delete or sleep (default: what it was, else stop).'),
  }),
  output: z.looseObject({
    sandbox: z.string(),
    deadline_at: z.string().nullable(),
    deadline_action: z.enum(deadlineActions).nullable(),
  }),
  async handler({ sandbox: reference, seconds, action }, { services, caller }) {
    const changed = await services.sandboxes.setDeadline(caller, reference, seconds, action);
    const { deadline_at = null, deadline_action = null } = toDeadlineView(changed);
    return { sandbox: changed.id, deadline_at, deadline_action };
  },
});

export const deleteSnapshot = defineAction({
  name: 'DeleteSnapshot',
  title: 'Delete a snapshot',
  description:
    'Deletes one of your snapshots, for good and in any state; cancels one in progress. Sandboxes ' +
    'created from it continue, stop and start as before: each keeps its image and entrypoint.',
  role: 'member',
  scope: 'sandboxes:write',
  command: 'snapshots rm',
  argument: 'snapshot',
  input: z.strictObject({
    snapshot: textWithoutNul().min(1).max(limits.sandboxNameChars).describe('Snapshot name or ID.'),
  }),
  output: z.looseObject({ id: z.string(), name: z.string(), deleted: z.literal(true) }),
  async handler({ snapshot }, { services, caller }) {
    const { id, name } = await services.snapshots.delete(caller, snapshot);
    return { id, name, deleted: true as const };
  },
});
