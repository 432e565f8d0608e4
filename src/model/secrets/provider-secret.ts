/**
 * Secrets whose value is their owner's authorization at the code-hosting provider. Requests to the provider carry it, as
 * its clients write them: a bearer token to the API, and basic authentication to Git. The provider's addresses are the
 * operator's, so no owner leads a token elsewhere.
 */
import { coversHost } from '../network/host-pattern.ts';
import type { Secret } from './secret.ts';
import { formatTarget, parseTarget } from './target-text.ts';
import type { SecretTarget, SecretUse } from './use.ts';

/** Places of requests that carry a token of the provider. Its base URLs have no slash at their ends. */
export interface ProviderAddresses {
  url: string;
  apiRoot: string;
  gitUsername: string;
}

/** A token of the provider, while it is valid. */
export interface ProviderToken {
  value: string;
  /** Milliseconds since the epoch; null: does not expire. */
  expiresAt: number | null;
}

/** Stands for both places in what is stored and shown; `parsePlace` does not know it. */
export const PROVIDER_PLACE = 'provider';

/** Returns the canonical targets at the provider; null where it has no name, or speaks no TLS: no secret goes there. */
export function providerTargets(addresses: ProviderAddresses): string[] | null {
  const at = placesOf(addresses);
  return at && [...new Set([at.api, at.git].map(formatTarget))];
}

/** Returns a target that is not at the provider; null when there is none. */
export function targetElsewhere(
  wanted: readonly string[],
  addresses: ProviderAddresses | null,
): string | null {
  const at = addresses && placesOf(addresses);
  return wanted.find((text) => !at || !isAtEither(parseTarget('targets', text), at)) ?? null;
}

/** Returns the secret as an engine uses it: none for targets that are not at the provider any more. */
export function providerUses(
  secret: Secret,
  { value, expiresAt }: ProviderToken,
  placeholder: string,
  addresses: ProviderAddresses,
): SecretUse[] {
  const at = placesOf(addresses);
  if (!at) return [];
  const targets = secret.targets
    .map((text) => parseTarget('targets', text))
    .filter((target) => isAtEither(target, at));
  const common = {
    ...{ secret: secret.id, name: secret.name, placeholder, value },
    expiresAt: earlier(secret.expiresAt, expiresAt),
  };
  const atApi = targets.filter((target) => liesIn(target, at.api));
  // In this order: a request without credentials gets the bearer token where both would do.
  const uses: SecretUse[] = [
    { ...common, targets: atApi, place: { in: 'header', name: 'authorization', format: 'Bearer {secret}' } },
    { ...common, targets, place: { in: 'basic', username: addresses.gitUsername } },
  ];
  return uses.filter((use) => use.targets.length > 0);
}

interface Places {
  api: SecretTarget;
  git: SecretTarget;
}

function placesOf({ url, apiRoot }: ProviderAddresses): Places | null {
  try {
    return { api: parseTarget('targets', apiRoot), git: parseTarget('targets', url) };
  } catch {
    return null;
  }
}

function isAtEither(target: SecretTarget, { api, git }: Places): boolean {
  return liesIn(target, api) || liesIn(target, git);
}

function liesIn({ host, port, path }: SecretTarget, outer: SecretTarget): boolean {
  const isBelow = outer.path === null || `${path}/`.startsWith(`${outer.path}/`);
  return port === outer.port && coversHost(outer.host, host) && isBelow;
}

function earlier(one: number | null, other: number | null): number | null {
  if (one === null || other === null) return one ?? other;
  return Math.min(one, other);
}
