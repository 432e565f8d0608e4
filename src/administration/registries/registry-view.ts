/** View of a registry's account in actions, never with its password. */
import { z } from 'zod';
import type { RegistryAccount } from '../../control/ports/index.ts';

export const registryOutput = z.looseObject({
  registry: z.string(),
  username: z.string(),
  updated_at: z.string(),
});

export type RegistryView = z.output<typeof registryOutput>;

export function toRegistryView({ registry, username, updatedAt }: RegistryAccount): RegistryView {
  return { registry, username, updated_at: new Date(updatedAt).toISOString() };
}
