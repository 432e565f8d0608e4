/** Everybody's sandboxes in the plainest way there is. */
import type {
  OwnedSandbox,
  SandboxStore,
  Store,
  TeamStore,
  UserStore,
} from '../../../src/control/ports/index.ts';
import type { Sandbox } from '../../../src/model/sandbox.ts';

export function memoryEverybody(
  sandboxes: Pick<SandboxStore, 'all'>,
  users: Pick<UserStore, 'findUser'>,
  teams: Pick<TeamStore, 'find'>,
): Pick<Store, 'everybody'> {
  return {
    everybody: {
      list: async ({ ownerId, state }, { page, pageSize }) => {
        const matching = (await sandboxes.all())
          .filter((row) => row.ownerId !== null && row.operation !== 'creating')
          .filter((row) => ownerId === undefined || row.ownerId === ownerId)
          .filter((row) => state === undefined || row.state === state)
          .sort((a, b) => b.createdAt - a.createdAt || (a.id < b.id ? 1 : -1));
        const shown = matching.slice((page - 1) * pageSize, page * pageSize);
        return {
          sandboxes: await Promise.all(shown.map((row) => owned(row, users, teams))),
          totalCount: matching.length,
        };
      },
    },
  };
}

async function owned(
  row: Sandbox,
  users: Pick<UserStore, 'findUser'>,
  teams: Pick<TeamStore, 'find'>,
): Promise<OwnedSandbox> {
  const { id, name, state, operation, stateReason, image, resources, deadline, createdAt, lastActivityAt } =
    row;
  const team = await teams.find(row.ownerId ?? '');
  const owner = team ? { ...team, email: null } : await users.findUser(row.ownerId ?? '');
  if (!owner) throw new Error(`no owner ${row.ownerId}`);
  return structuredClone({
    ...{ id, name, state, operation, stateReason, image, resources, deadline, createdAt, lastActivityAt },
    owner: { id: owner.id, name: owner.name, email: owner.email },
  });
}
