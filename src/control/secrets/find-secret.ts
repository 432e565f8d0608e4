/** Finds secrets of the owner that a caller acts for. */
import { notFound, type SandhavenError } from '../../model/errors.ts';
import type { Secret } from '../../model/secrets/secret.ts';
import { ownerIdOf, type User } from '../../model/user.ts';
import type { SecretStore } from '../ports/index.ts';

/** Finds by id or by name. Rejects with `not_found`. */
export async function findSecret(
  store: Pick<SecretStore, 'find'>,
  caller: User,
  reference: string,
): Promise<Secret> {
  const secret = await store.find(ownerIdOf(caller), reference);
  if (secret) return secret;
  throw noSecret(reference);
}

export function noSecret(reference: string): SandhavenError {
  return notFound('secret', `There is no secret '${reference}'.`, 'ListSecrets shows the ones there are.');
}
