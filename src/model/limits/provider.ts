/** Bounds of the code-hosting provider: requests to it, and the time of an authorization. */
import { KiB } from './units.ts';

export const providerLimits = {
  provider: {
    /** One request to the provider, answer included. */
    requestMs: 15_000,
    answerBytes: 1024 * KiB,
    tokenChars: 4_096,
    /** Time between showing the URL to a user and the browser's return. */
    stateMs: 10 * 60_000,
    /** Retention of an authorization's outcome after its end. */
    outcomeMs: 10 * 60_000,
    /** Pending authorizations, of one user and in total. */
    pendingPerUser: 8,
    pending: 10_000,
    /** Lifetime of a device code, whatever the provider says. */
    deviceMs: 30 * 60_000,
    deviceIntervalMs: { min: 1_000, default: 5_000, max: 60_000 },
    /** Extra interval when the provider demands slower polling and names none. */
    slowDownMs: 5_000,
    /** Turn of one replica to poll: two requests at their timeout. A replica that is gone holds it no longer. */
    pollTurnMs: 30_000,
    /**
     * Turn of one replica to renew an authorization: the rest of a lease for work, a request at its timeout, and the write
     * of its answer. A replica that is gone holds it no longer.
     */
    renewTurnMs: 30_000,
    /** Wait for other replicas that have the turn: two of them, one after another. */
    renewWaitMs: 60_000,
    renewLookMs: 250,
    /** A token that expires within this time is renewed before use: a clone may take as long. */
    renewAheadMs: 10 * 60_000,
    /** Installation tokens in memory. */
    installationTokens: 1_000,
    formBytes: 8 * KiB,
  },
} as const;
