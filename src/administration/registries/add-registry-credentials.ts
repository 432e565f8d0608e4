/** AddRegistryCredentials: how private images of a registry are pulled, by every user. */
import { z } from 'zod';
import { defineAction } from '../action.ts';
import { password, registry, username } from './parameters.ts';
import { registryOutput, toRegistryView } from './registry-view.ts';

export const addRegistryCredentials = defineAction({
  name: 'AddRegistryCredentials',
  title: 'Keep credentials for a registry',
  description:
    'Keeps the username and password that images of a registry are pulled with, in place of earlier ones. They serve ' +
    'every user of the service, so give an account that may read what all may read. They are tried at the next pull.',
  role: 'admin',
  command: 'registries add',
  argument: 'registry',
  secret: 'password',
  input: z.strictObject({ registry, username, password }),
  output: registryOutput,
  async handler(parameters, { services }) {
    return toRegistryView(await services.registries.put(parameters));
  },
});
