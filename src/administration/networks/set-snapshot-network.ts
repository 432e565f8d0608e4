/** SetSnapshotNetwork: the network of sandboxes that are created from a snapshot without one of their own. */
import { z } from 'zod';
import { networkOrDefault } from '../../catalog/parameters/network.ts';
import { textWithoutNul } from '../../catalog/parameters/text.ts';
import { networkOutput, toNetworkView } from '../../catalog/sandbox-view.ts';
import { limits } from '../../model/limits.ts';
import { defineAction } from '../action.ts';
import { settingRows } from './network-view.ts';

export const setSnapshotNetwork = defineAction({
  name: 'SetSnapshotNetwork',
  title: 'Set the network of a snapshot',
  description:
    'Sets the network of sandboxes that are created from one of your snapshots without one of their own. Sandboxes that are ' +
    'there keep theirs. GetSnapshot shows it. permission_denied: the snapshot base is not yours.',
  role: 'member',
  scope: 'sandboxes:write',
  command: 'network snapshot',
  argument: 'snapshot',
  words: 'network',
  input: z.strictObject({
    snapshot: textWithoutNul().min(1).max(limits.sandboxNameChars).describe('Snapshot name or ID.'),
    network: networkOrDefault().describe(
      'open, none, {"allow": rules, "profiles": names}, or default: the usual network of its owner.',
    ),
  }),
  output: z.looseObject({
    snapshot: z.string(),
    name: z.string(),
    network: networkOutput.nullable().describe("null: the owner's usual one."),
  }),
  async handler({ snapshot, network: request }, { services, caller }) {
    const { id, name, network } = await services.snapshots.setNetwork(caller, snapshot, request);
    return { snapshot: id, name, network: network && toNetworkView(network) };
  },
  rows: ({ network }) => settingRows(network, "its owner's"),
});
