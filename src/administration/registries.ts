/** Actions on credentials of registries. */
import { z } from 'zod';
import { atMostBytes, textWithoutNul } from '../catalog/parameters/scalars.ts';
import type { RegistryAccount } from '../control/ports/index.ts';
import { limits } from '../model/limits.ts';
import { formatAllowedImages, formatMirror, isRegistryName } from '../model/registries.ts';
import { defineAction } from './action.ts';

export const registry = z
  .string()
  .max(limits.registries.nameChars)
  .refine(isRegistryName, "must be a registry's host, or host:port, as images' names begin with it")
  .describe('Host of the registry, with its port when images name one.');

export const username = textWithoutNul()
  .min(1)
  .max(limits.registries.usernameChars)
  .refine((value) => !/[\p{Cc}:]/u.test(value), 'must hold neither ":" nor control characters')
  .describe('User name at the registry.');

export const password = textWithoutNul()
  .min(1)
  .check(atMostBytes(limits.registries.passwordBytes))
  .meta({ description: 'Password or access token.', sensitive: true });

const registryOutput = z.looseObject({
  registry: z.string(),
  username: z.string(),
  updated_at: z.string(),
});

type RegistryView = z.output<typeof registryOutput>;

function toRegistryView({ registry, username, updatedAt }: RegistryAccount): RegistryView {
  return { registry, username, updated_at: new Date(updatedAt).toISOString() };
}

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

export const listRegistries = defineAction({
  name: 'ListRegistries',
  title: 'List registries',
  description:
    'Lists the registries with credentials, without the passwords; the mirrors, in the order in which ' +
    'they are tried; and which images may be pulled (null: all), both as set for `sandhaven up`.',
  role: 'admin',
  command: 'registries list',
  input: z.strictObject({}),
  output: z.looseObject({
    registries: z.array(registryOutput),
    mirrors: z.array(z.looseObject({ registry: z.string(), mirror: z.string() })),
    allowed: z.array(z.string()).nullable(),
  }),
  async handler(_parameters, { services }) {
    const { mirrors, allowed } = services.registries.rules;
    return {
      registries: (await services.registries.list()).map(toRegistryView),
      mirrors: mirrors.map((entry) => ({ registry: entry.registry, mirror: formatMirror(entry) })),
      allowed: allowed?.map(formatAllowedImages) ?? null,
    };
  },
  rows: ({ registries, mirrors }) => [
    ...registries.map(({ registry, username, updated_at }) => ({
      registry,
      username,
      updated: updated_at,
      mirror: '',
    })),
    ...mirrors.map(({ registry, mirror }) => ({ registry, username: '', updated: '', mirror })),
  ],
});

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
