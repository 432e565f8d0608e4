/** Bounds of credentials and secrets, of identities, and of applications that act for people. */
import { HOUR_MS, KiB } from './units.ts';

/** Bounds of the ways in beside keys: passkeys, passwords, and attempts with them. */
export const credentialsLimits = {
  passkeys: {
    perUser: 20,
    nameChars: 100,
    /** Time between the browser's question for a challenge and its answer. */
    challengeMs: 5 * 60_000,
    /** An answer of the browser, with a public key and no attestation. */
    bodyBytes: 16_384,
    /** Each text in it, in base64url; WebAuthn bounds a credential's id at 1,023 bytes. */
    textChars: 12_288,
    credentialIdChars: 1_364,
    transports: 8,
    transportChars: 32,
    /** Age up to which a sign-in may change the ways in. */
    freshMs: 15 * 60_000,
  },
  passwords: {
    charsMin: 12,
    bytesMax: 1_024,
    bodyBytes: 8_192,
    /** Hashes computed at once, each in a thread of Node's pool, which files share; and those that wait. */
    hashesAtOnce: 2,
    hashesWaiting: 32,
    /** Argon2id, by the OWASP Password Storage Cheat Sheet. */
    hash: { memoryKiB: 19_456, passes: 2, parallelism: 1, saltBytes: 16, hashBytes: 32 },
    /** Attempts on one name from networks that have not signed in as this user. */
    rate: { perSecond: 1 / 30, burst: 10 },
    /** Names whose attempts are counted before idle ones are forgotten. */
    names: 10_000,
    /** Networks remembered of one user. */
    networksPerUser: 16,
  },
} as const;

/** Bounds of OAuth: clients of MCP that people authorize. */
const DAY_MS = 24 * HOUR_MS;

export const oauthLimits = {
  /** Registered clients without a live grant: of one network, and of all. The oldest gives way. */
  clientsPerNetwork: 50,
  clientsTotal: 10_000,
  /** Time for which a client without a grant is kept after its registration, and after the end of its last grant. */
  unusedClientMs: DAY_MS,
  formerClientMs: 60 * DAY_MS,
  clientNameChars: 100,
  redirectUris: 10,
  redirectUriChars: 2_000,
  /** Id of a client that describes itself at its own address, which is the id. */
  clientIdChars: 1_000,
  registrationBytes: 16 * KiB,
  /** Document that describes a client at its own address. */
  documentBytes: 16 * KiB,
  documentMs: 2_500,
  /** Documents being fetched; an owner is the network that asks. */
  documentsAtOnce: { total: 16, perOwner: 4 },
  /** Seconds for which such a document is kept. */
  documentKeptSeconds: { min: 60, max: 24 * 60 * 60 },

  /** Grants of one user; a newer one replaces the one that was used longest ago. */
  grantsPerUser: 64,
  /** Time without a refresh after which a grant ends. */
  grantIdleMs: 30 * DAY_MS,
  /** Time in which a client has to fetch the tokens of a new grant. */
  unclaimedMs: 5 * 60_000,
  /** Time for which a refresh token is good after its first use: requests side by side. */
  refreshOverlapMs: 10_000,
  accessTokenSeconds: 15 * 60,
  codeSeconds: 60,
  /** Time that a person has for the decision. */
  consentSeconds: 15 * 60,
  /** Open authorization requests: of one network, and of all. The oldest gives way. */
  requestsPerNetwork: 100,
  requestsTotal: 10_000,
  /** Tokens of one grant, of each kind, used ones included; the oldest goes. */
  tokensPerGrant: 64,

  /** Interval of removing what is over. */
  pruneMs: HOUR_MS,

  /** A request to the authorization server, its URL and its whole duration. */
  requestMs: 15_000,
  urlChars: 8_000,
  /** Registrations, authorization requests, and requests for tokens, of one network. */
  registerRate: { perSecond: 0.1, burst: 20 },
  authorizeRate: { perSecond: 1, burst: 60 },
  tokenRate: { perSecond: 10, burst: 200 },
  /** Documents that a network may have fetched. */
  documentRate: { perSecond: 0.2, burst: 20 },
  /** Networks that are counted before idle ones are forgotten. */
  networks: 10_000,
  /** Addresses of this service with an authorization server of their own. */
  issuers: 16,
} as const;

/** Bounds of signing in by the team's identity provider. */
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

/** Bounds of secrets that sandboxes use. */
export const secretsLimits = {
  /** A file in which the operator keeps a secret for another service. */
  secretFileBytes: 64 * KiB,
  secrets: {
    /** Secrets of one owner, and those of one sandbox. */
    perOwner: 100,
    perSandbox: 10,
    /** Targets of one secret, and characters of one. */
    targets: 20,
    targetChars: 300,
    nameChars: 63,
    placeChars: 512,
    /** A shorter value would be found, and hidden, everywhere in answers. */
    valueChars: { min: 8 },
    valueBytes: 8 * KiB,
    /** Secrets whose uses wait to be stored, and the time for which they do. */
    usesKept: 10_000,
    usesStoredMs: 30_000,
    /** Pause between two looks at authorizations that running sandboxes use. */
    providerLookMs: 60_000,
  },
} as const;
