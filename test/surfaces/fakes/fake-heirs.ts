/** Heirs as they are, over the sandboxes of a fake service; nobody has a quota, and nothing runs. */
import { type HeirDependencies, Heirs } from '../../../src/control/people/heirs.ts';
import { unlimited } from '../../../src/model/quota.ts';
import type { Sandbox } from '../../../src/model/sandbox.ts';
import type { PeopleStore } from './fake-people.ts';

export function fakeHeirs(
  sandboxes: Map<string, Sandbox>,
  revoked: string[],
  { users, teams, userDeletions }: PeopleStore,
  {
    machines,
    adminsReadInside,
  }: Pick<HeirDependencies, 'adminsReadInside'> & {
    machines: Pick<HeirDependencies['machines'], 'command'>;
  },
): Heirs {
  return new Heirs({
    store: { users, teams, userDeletions, gitCredentials: { remove: async () => {} } },
    quotas: {
      allowance: async (ownerId) => ({ ownerId, quota: unlimited }),
      usage: async () => ({ sandboxes: 0, cpu: 0, memory: 0, disk: 0, snapshots: 0 }),
    },
    machines: {
      ...machines,
      async change(id, patch) {
        const sandbox = sandboxes.get(id) as Sandbox;
        const changed = { ...sandbox, ...patch(sandbox) };
        sandboxes.set(id, changed);
        return changed;
      },
      recall: async () => {},
    },
    snapshots: { give: async () => true },
    access: {
      async revoke(id) {
        revoked.push(id);
        return { ssh: 0, preview: 0 };
      },
    },
    learning: { end() {} },
    adminsReadInside,
  });
}
