/** AllowNetwork and DenyNetwork: add rules to the network of one of the caller's sandboxes, and remove them. */
import { z } from 'zod';
import { networkWords } from '../../catalog/parameters/network.ts';
import { sandbox } from '../../catalog/parameters/sandbox.ts';
import { defineAction } from '../action.ts';
import { networkRows, shownNetworkOutput, toShownNetwork } from './network-view.ts';

const input = z.strictObject({
  sandbox,
  rules: networkWords().describe('Rules, such as https://api.example.com, and names of profiles.'),
});

const command = { role: 'member', scope: 'sandboxes:write', argument: 'sandbox', words: 'rules' } as const;

export const allowNetwork = defineAction({
  ...command,
  name: 'AllowNetwork',
  title: 'Allow a sandbox more network',
  description:
    'Adds rules and profiles to the network of one of your sandboxes. One that was none has these alone then. ' +
    'failed_precondition: the network is open, and allows them already.',
  command: 'network allow',
  input,
  output: shownNetworkOutput,
  async handler({ sandbox: reference, rules }, { services, caller }) {
    return toShownNetwork(await services.networks.allow(caller, reference, rules));
  },
  rows: networkRows,
});

export const denyNetwork = defineAction({
  ...command,
  name: 'DenyNetwork',
  title: 'Allow a sandbox less network',
  description:
    'Removes rules and profiles from the network of one of your sandboxes, each as GetNetwork shows it, and ends open ' +
    'connections that nothing allows any more.',
  command: 'network deny',
  input,
  output: shownNetworkOutput,
  async handler({ sandbox: reference, rules }, { services, caller }) {
    return toShownNetwork(await services.networks.deny(caller, reference, rules));
  },
  rows: networkRows,
});
