/** Views of secrets in actions, never with the value. */
import { z } from 'zod';
import { timestamp } from '../../catalog/sandbox-view.ts';
import type { ShownSecrets } from '../../control/secrets/sandbox-secrets.ts';
import type { Secret } from '../../model/secrets/secret.ts';

export const secretOutput = z.looseObject({
  secret_id: z.string(),
  name: z.string(),
  variable: z.string(),
  targets: z.array(z.string()),
  place: z.string(),
  /** Base URL of the provider whose authorization is its value. */
  provider: z.string().nullable(),
  created_at: z.string(),
  updated_at: z.string(),
  /** Time of the present value; for a provider's of the creation. */
  rotated_at: z.string(),
  /** null: never. */
  expires_at: z.string().nullable(),
  last_used_at: z.string().nullable().describe('Last request that carried it; half a minute behind.'),
});

export const sandboxSecretsOutput = z.looseObject({
  sandbox: z.string(),
  secrets: z.array(secretOutput),
});

export type SecretView = z.output<typeof secretOutput>;

export function toSecretView(secret: Secret): SecretView {
  const { id, name, variable, targets, place, provider, expiresAt, lastUsedAt } = secret;
  return {
    ...{ secret_id: id, name, variable, targets, place, provider },
    created_at: timestamp(secret.createdAt),
    updated_at: timestamp(secret.updatedAt),
    rotated_at: timestamp(secret.rotatedAt),
    expires_at: expiresAt === null ? null : timestamp(expiresAt),
    last_used_at: lastUsedAt === null ? null : timestamp(lastUsedAt),
  };
}

export function toSandboxSecretsView({ sandboxId, secrets }: ShownSecrets) {
  return { sandbox: sandboxId, secrets: secrets.map(toSecretView) };
}

export function secretRow(secret: SecretView) {
  const { name, variable, place, targets, rotated_at, expires_at, last_used_at } = secret;
  const times = { rotated: rotated_at, expires: expires_at, used: last_used_at };
  return { name, variable, place, targets: targets.join(' '), ...times };
}
