/** Parameters of a registry, and the view of its account, never with the password. */
import { z } from 'zod';
import { atMostBytes, textWithoutNul } from '../../catalog/parameters/text.ts';
import type { RegistryAccount } from '../../control/ports/index.ts';
import { limits } from '../../model/limits.ts';
import { isRegistryName } from '../../model/registry-name.ts';

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

export const registryOutput = z.looseObject({
  registry: z.string(),
  username: z.string(),
  updated_at: z.string(),
});

export type RegistryView = z.output<typeof registryOutput>;

export function toRegistryView({ registry, username, updatedAt }: RegistryAccount): RegistryView {
  return { registry, username, updated_at: new Date(updatedAt).toISOString() };
}
