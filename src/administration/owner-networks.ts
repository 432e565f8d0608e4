/** Actions on networks and ceilings of users and teams. */
import { z } from 'zod';
import { networkOrDefault } from '../catalog/parameters/network.ts';
import type { ShownOwnerNetworks } from '../control/network/owner-networks.ts';
import { defineAction } from './action.ts';
import { inForceOutput, settingRows, toInForceView } from './networks.ts';
import { ownerNetworksOutput, team, toOwnerNetworksView, user } from './owners.ts';

/** Named like the flags of `up`. */
const networks = {
  default_network: networkOrDefault()
    .optional()
    .describe("Network of sandboxes created without one; default for the installation's."),
  most_network: networkOrDefault()
    .optional()
    .describe("Ceiling of all sandboxes, within the installation's; default for that alone."),
};

const shared = ownerNetworksOutput.extend({
  in_force: inForceOutput.describe("The most that the sandboxes reach, within the installation's ceiling."),
});

type View = z.output<typeof shared>;

const description =
  'What is given changes; without both it shows them. A ceiling is in force in running sandboxes when the call ends, and what ' +
  'is set for each stays as it is. unavailable: it is stored, and the service goes on putting it in force. ' +
  'failed_precondition: the engine has no network policies, as on Kubernetes.';

export const setUserNetwork = defineAction({
  name: 'SetUserNetwork',
  title: 'Set the networks of a user',
  description: `Sets the default network and the ceiling of a user's sandboxes. ${description}`,
  role: 'admin',
  command: 'users network',
  argument: 'user',
  input: z.strictObject({ user, ...networks }),
  output: shared.extend({ user_id: z.string(), email: z.string() }),
  async handler({ user, default_network: usual, most_network: most }, { services }) {
    const { id, email } = await services.users.find(user);
    const shown = await services.ownerNetworks.set({ id, name: email }, { usual, most });
    return { user_id: id, email, ...toView(shown) };
  },
  rows: toRows,
});

export const setTeamNetwork = defineAction({
  name: 'SetTeamNetwork',
  title: 'Set the networks of a team',
  description: `Sets the default network and the ceiling of a team's sandboxes. ${description}`,
  role: 'admin',
  command: 'teams network',
  argument: 'team',
  input: z.strictObject({ team, ...networks }),
  output: shared.extend({ team_id: z.string(), name: z.string() }),
  async handler({ team, default_network: usual, most_network: most }, { services }) {
    const { id, name } = await services.teams.find(team);
    return { team_id: id, name, ...toView(await services.ownerNetworks.set({ id, name }, { usual, most })) };
  },
  rows: toRows,
});

function toView(shown: ShownOwnerNetworks): View {
  return { ...toOwnerNetworksView(shown), in_force: toInForceView(shown.inForce) };
}

function toRows({ default: usual, most }: View): Record<string, unknown>[] {
  const of = (what: string, network: View['most']) =>
    settingRows(network, "the installation's").map((row) => ({ what, ...row }));
  return [...of('default', usual), ...of('most', most)];
}
