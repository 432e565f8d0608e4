/** GetNetwork: the network of one of the caller's sandboxes. */
import { z } from 'zod';
import { sandbox } from '../../catalog/parameters/sandbox.ts';
import { defineAction } from '../action.ts';
import { networkRows, shownNetworkOutput, toShownNetwork } from './network-view.ts';

export const getNetwork = defineAction({
  name: 'GetNetwork',
  title: 'Get the network of a sandbox',
  description:
    'The network of one of your sandboxes as it is set, and the rules in force: those of its profiles too, within the ceilings ' +
    'that the operator has set for all sandboxes and an admin for yours.',
  role: 'member',
  scope: 'sandboxes:read',
  command: 'network get',
  argument: 'sandbox',
  input: z.strictObject({ sandbox }),
  output: shownNetworkOutput,
  async handler({ sandbox: reference }, { services, caller }) {
    return toShownNetwork(await services.networks.get(caller, reference));
  },
  rows: networkRows,
});
