/** ListRegistries: lists registries with credentials, mirrors, and the allowed images. */
import { z } from 'zod';
import { formatAllowedImages, formatMirror } from '../../model/registry-rules.ts';
import { defineAction } from '../action.ts';
import { registryOutput, toRegistryView } from './registry.ts';

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
