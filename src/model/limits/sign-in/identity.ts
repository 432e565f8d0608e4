/** Bounds of signing in by the team's identity provider. */
import { KiB } from '../units.ts';

export const identityLimits = {
  identity: {
    /** One request to the provider, answer included. */
    requestMs: 10_000,
    answerBytes: 256 * KiB,
    /** Age of the provider's description that is asked for anew, and until which the old one serves in its place. */
    refreshMs: 60 * 60_000,
    keptMs: 24 * 60 * 60_000,
    /** Pause after a failure, in which the provider is not asked again. */
    pauseMs: 10_000,
    /** Difference between the clocks of both sides. */
    skewSeconds: 30,
    /** Time between the start of a sign-in and the browser's return. */
    pendingMs: 10 * 60_000,
    /** The cookie of a sign-in under way, and the query that the browser returns with. */
    cookieChars: 2_048,
    queryChars: 4_096,
    returnPathChars: 512,
    /** Sign-ins at work with the provider at once, and as many logouts; of one network. */
    exchanges: 32,
    exchangesPerNetwork: 8,
    subjectChars: 255,
    sidChars: 255,
    issuerChars: 512,
    groupChars: 256,
    /** Groups of one person, and groups or domains in one option. */
    groups: 1_000,
    groupsInOption: 100,
    /** Identities of one user, and of all. */
    perUser: 8,
    identities: 50_000,
    /** Age of a logout token, and the body that has it. */
    logoutMs: 5 * 60_000,
    logoutBytes: 16 * KiB,
    /** Logout tokens from one network. */
    logoutRate: { perSecond: 20, burst: 200 },
    /** States and logout tokens that were used, until they expire; above it the oldest go early. */
    used: 20_000,
    /** Name on the button. */
    nameChars: 40,
  },
} as const;
