/** ListNetworkProfiles: profiles of network rules. */
import { z } from 'zod';
import { networkProfileNames, networkProfiles } from '../../model/network/profiles.ts';
import { defineAction } from '../action.ts';

export const listNetworkProfiles = defineAction({
  name: 'ListNetworkProfiles',
  title: 'List the network profiles',
  description: 'Named lists of network rules, for the networks of sandboxes.',
  role: 'member',
  scope: 'sandboxes:read',
  command: 'network profiles',
  input: z.strictObject({}),
  output: z.looseObject({
    profiles: z.array(
      z.looseObject({ name: z.string(), description: z.string(), rules: z.array(z.string()) }),
    ),
  }),
  async handler() {
    const profiles = networkProfileNames.map((name) => {
      const { description, rules } = networkProfiles[name];
      return { name, description, rules: [...rules] };
    });
    return { profiles };
  },
  rows: ({ profiles }) =>
    profiles.flatMap(({ name, rules }) => rules.map((rule) => ({ profile: name, rule }))),
});
