/** View of the default network and the ceiling of a user or a team. */
import { z } from 'zod';
import { networkOutput, toNetworkView } from '../../catalog/sandbox-view.ts';
import type { OwnerNetworks } from '../../model/network/owner-networks.ts';

export const ownerNetworksOutput = z.looseObject({
  default: networkOutput
    .nullable()
    .describe("Of sandboxes whose creation asks for none; null: the installation's."),
  most: networkOutput
    .nullable()
    .describe("The most that they reach; null: the installation's ceiling alone."),
});

export type OwnerNetworksView = z.output<typeof ownerNetworksOutput>;

export function toOwnerNetworksView({ usual, most }: OwnerNetworks): OwnerNetworksView {
  return { default: usual && toNetworkView(usual), most: most && toNetworkView(most) };
}
