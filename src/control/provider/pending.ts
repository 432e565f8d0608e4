/** New authorizations at the provider: their ids, secrets and times. The store keeps them for all replicas. */
import { createHash, randomBytes } from 'node:crypto';
import { newAuthorizationId } from '../../model/ids.ts';
import { limits } from '../../model/limits.ts';
import type { User } from '../../model/user.ts';
import type { BrowserFlow, DeviceCode, DeviceFlow } from '../ports/index.ts';

const SECRET_BYTES = 32;
const secretForm = /^[\w-]{43}$/;

/** @param now Milliseconds since the epoch. */
export function newBrowserFlow(user: User, provider: string, now: number): BrowserFlow {
  return {
    ...commonOf(user, provider, now, limits.provider.stateMs),
    state: newSecret(),
    verifier: newSecret(),
  };
}

/** Bounds the provider's times. */
export function newDeviceFlow(user: User, provider: string, device: DeviceCode, now: number): DeviceFlow {
  const { deviceMs, deviceIntervalMs } = limits.provider;
  const { min, max } = deviceIntervalMs;
  const intervalMs = Math.min(Math.max(device.intervalMs, min), max);
  return {
    ...commonOf(user, provider, now, Math.min(device.expiresInMs, deviceMs)),
    deviceCode: device.deviceCode,
    intervalMs,
    nextPollAt: now + intervalMs,
  };
}

/** Returns the PKCE challenge of a verifier, by the method S256 (RFC 7636). */
export function challengeOf(verifier: string): string {
  return createHash('sha256').update(verifier).digest('base64url');
}

/** Returns false for a text that is no state of any flow, so that the store need not be asked. */
export function hasFormOfState(text: string): boolean {
  return secretForm.test(text);
}

function commonOf({ id: userId }: User, provider: string, now: number, forMs: number) {
  return { id: newAuthorizationId(), userId, provider, createdAt: now, expiresAt: now + forMs };
}

function newSecret(): string {
  return randomBytes(SECRET_BYTES).toString('base64url');
}
