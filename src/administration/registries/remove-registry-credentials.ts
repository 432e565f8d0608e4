/** RemoveRegistryCredentials: forgets credentials; later requests to the registry are anonymous. */
import { z } from 'zod';
import { defineAction } from '../action.ts';
import { registry } from './registry.ts';

export const removeRegistryCredentials = defineAction({
  name: 'RemoveRegistryCredentials',
  title: 'Forget the credentials of a registry',
  description:
    'Deletes the credentials of a registry. Images pulled with them stay for as long as they are in use.',
  role: 'admin',
  command: 'registries remove',
  argument: 'registry',
  input: z.strictObject({ registry }),
  output: z.looseObject({ registry: z.string(), removed: z.literal(true) }),
  async handler(parameters, { services }) {
    return { registry: await services.registries.remove(parameters.registry), removed: true as const };
  },
});
