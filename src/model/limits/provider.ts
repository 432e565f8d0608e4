/** Bounds of the code-hosting provider: what is asked of it, and how long an authorization may take. */
import { KiB } from './units.ts';

export const providerLimits = {
  provider: {
    /** One request to the provider, answer included. */
    requestMs: 15_000,
    answerBytes: 1024 * KiB,
    tokenChars: 4_096,
    /** From the URL that a user is shown until the provider sends the browser back. */
    stateMs: 10 * 60_000,
    /** How long the outcome of an authorization can be asked for after its end. */
    outcomeMs: 10 * 60_000,
    /** Authorizations under way, of one user and of all. */
    pendingPerUser: 8,
    pending: 10_000,
    /** Of a device code, whatever the provider says. */
    deviceMs: 30 * 60_000,
    deviceIntervalMs: { min: 1_000, default: 5_000, max: 60_000 },
    /** What a provider that is asked too often wants to be waited more, where it names no interval. */
    slowDownMs: 5_000,
    /** A token that ends within this time is renewed before it is used: a clone may take so long. */
    renewAheadMs: 10 * 60_000,
    /** Installation tokens in memory. */
    installationTokens: 1_000,
    formBytes: 8 * KiB,
  },
} as const;
