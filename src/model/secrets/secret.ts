/** Secrets that an owner keeps for sandboxes, as they are stored and shown: without their values. */
import { createHmac } from 'node:crypto';
import { invalidArgument } from '../errors.ts';
import { limits } from '../limits.ts';
import { parsePlace } from './place-text.ts';
import { parseTarget } from './target-text.ts';
import type { SecretUse } from './use.ts';

export interface Secret {
  id: string;
  /** User or team whose sandboxes may use it. */
  ownerId: string;
  /** Unique per owner. */
  name: string;
  /** Name of the environment variable that holds the placeholder inside. */
  variable: string;
  /** Requests that carry it, in canonical form. */
  targets: string[];
  /** Its place in them, in canonical form; `provider` for a provider's. */
  place: string;
  /** Base URL of the provider whose authorization of the owner is its value; null: it has a value of its own. */
  provider: string | null;
  /** Milliseconds since the epoch, like all times here. */
  createdAt: number;
  updatedAt: number;
  /** Time of the present value. */
  rotatedAt: number;
  /** null: never. */
  expiresAt: number | null;
  /** Last request that carried it, some seconds behind; null: none so far. */
  lastUsedAt: number | null;
}

export const secretNamePattern = /^[A-Za-z0-9][A-Za-z0-9._-]*$/;
export const variablePattern = /^[A-Za-z_][A-Za-z0-9_]*$/;

/** Returns the name of the variable for a secret that names none: `stripe-key` becomes `STRIPE_KEY`. */
export function usualVariable(name: string): string {
  const upper = name.toUpperCase().replaceAll(/[^A-Z0-9]/g, '_');
  return /^[0-9]/.test(upper) ? `_${upper}` : upper;
}

export function isExpired({ expiresAt }: Pick<Secret, 'expiresAt'>, now: number): boolean {
  return expiresAt !== null && expiresAt <= now;
}

/** Throws `invalid_argument` naming the parameter, without the value, for one that fits into no request at this place. */
export function assertValue(parameter: string, value: string, place: string): void {
  if (value.length < limits.secrets.valueChars.min) {
    throw invalidArgument(
      parameter,
      `A secret has at least ${limits.secrets.valueChars.min} characters: it is hidden in answers, wherever it stands.`,
    );
  }
  if (/[\p{Cc}]/u.test(value) || value.trim() !== value) {
    throw invalidArgument(
      parameter,
      'A secret has no line breaks and no other control characters, and no spaces around it.',
    );
  }
  const isAws = /^[^\s:]{3,128}:[^\s:]{8,256}(?::[^\s:]+)?$/.test(value);
  if (place !== 'aws' || isAws) return;
  throw invalidArgument(
    parameter,
    'A secret for aws is ACCESS_KEY_ID:SECRET_ACCESS_KEY, with :SESSION_TOKEN behind it where there is one.',
  );
}

/** Returns the secret as an engine uses it. */
export function useOf(secret: Secret, value: string, placeholder: string): SecretUse {
  return {
    ...{ secret: secret.id, name: secret.name, placeholder, value },
    targets: secret.targets.map((text) => parseTarget('targets', text)),
    place: parsePlace('place', secret.place),
    expiresAt: secret.expiresAt,
  };
}

/**
 * Returns the text that stands for a secret inside one sandbox. Another sandbox has another, and neither says anything about the
 * value.
 * @param key Of the installation, so that nothing is stored and all replicas have the same.
 */
export function placeholderOf(key: string, sandboxId: string, secretId: string): string {
  const digest = createHmac('sha256', key).update(`${sandboxId} ${secretId}`).digest('hex');
  return `sandhaven-secret-${digest.slice(0, 32)}`;
}
