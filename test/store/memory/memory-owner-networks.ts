/** The port of owners' networks in the plainest way there is. */
import type { OwnerNetworkStore, TeamStore, UserStore } from '../../../src/control/ports/index.ts';
import type { OwnerNetworks } from '../../../src/model/network/setting.ts';
import type { Sandbox } from '../../../src/model/sandbox.ts';

export function memoryOwnerNetworks(
  { users, teams }: { users: UserStore; teams: TeamStore },
  sandboxes: Map<string, Sandbox> = new Map(),
): OwnerNetworkStore {
  const rows = new Map<string, OwnerNetworks>();
  const of = (ownerId: string) => rows.get(ownerId) ?? { usual: null, most: null };
  return {
    of: async (ownerId) => structuredClone(of(ownerId)),
    set: async (ownerId, change) => {
      const owner = (await users.findUser(ownerId)) ?? (await teams.find(ownerId));
      if (!owner) {
        rows.delete(ownerId);
        return null;
      }
      const changed = { ...of(ownerId), ...structuredClone(change) };
      rows.set(ownerId, changed);
      return structuredClone(changed);
    },
    running: async (ownerId) =>
      [...sandboxes.values()]
        .filter((row) => row.ownerId === ownerId && row.operation !== 'creating')
        .filter(({ state, operation }) => state === 'started' || operation !== null)
        .map(({ id }) => id),
  };
}
