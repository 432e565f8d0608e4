/** SetNetwork: replaces the network of one of the caller's sandboxes, also while it runs. */
import { z } from 'zod';
import { network } from '../../catalog/parameters/network.ts';
import { sandbox } from '../../catalog/parameters/sandbox.ts';
import { defineAction } from '../action.ts';
import { networkRows, shownNetworkOutput, toShownNetwork } from './network-view.ts';

export const setNetwork = defineAction({
  name: 'SetNetwork',
  title: 'Set the network of a sandbox',
  description:
    'Replaces the network of one of your sandboxes, in any state. In a running one it is in force when the call ends, and ' +
    'open connections that it does not allow are ended. unavailable: it is stored, and the sandbox has no network until ' +
    'the service has put it in force.',
  role: 'member',
  scope: 'sandboxes:write',
  command: 'network set',
  argument: 'sandbox',
  words: 'network',
  input: z.strictObject({
    sandbox,
    network: network().describe(
      'open, none, or {"allow": rules, "profiles": names}: what these allow, and nothing else.',
    ),
  }),
  output: shownNetworkOutput,
  async handler({ sandbox: reference, network: request }, { services, caller }) {
    return toShownNetwork(await services.networks.set(caller, reference, request));
  },
  rows: networkRows,
});
