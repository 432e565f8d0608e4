/** AddRegistryCredentials: keeps credentials that pull private images for every user. */
import { z } from 'zod';
import { defineAction } from '../action.ts';
import { password, registry, registryOutput, toRegistryView, username } from './registry.ts';

export const addRegistryCredentials = defineAction({
  name: 'AddRegistryCredentials',
  title: 'Keep credentials for a registry',
  description:
    'Stores the username and password for pulls from a registry, in place of earlier ones. They serve ' +
    'every user of the service, so use an account limited to images that all may read. The next pull tries them.',
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
