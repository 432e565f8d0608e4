/** Bounds of users, of their keys, and of the keys' call rates. */

export const peopleLimits = {
  userNameChars: 100,
  /** Length of an address in the mail standards. */
  userEmailChars: 254,
  keyNameChars: 100,
  /** Keys of one user, neither revoked nor expired. */
  keysPerUser: 100,
  /** Keys of one user, revoked or expired: kept for the record. */
  keysKeptPerUser: 1_000,
  /** Keys whose rate is kept before idle ones are forgotten. */
  rateBuckets: 10_000,
  /** Times that our own clients send a call refused for its rate. */
  clientTries: 4,
  /** Value of a quota: sums stay exact far beyond it. */
  quotaMax: 1_000_000_000,
  /** New connections a second of a member's sandboxes together: five of them at their most. */
  ownerConnectionsPerSecond: 1_000,
  /** Interval of writing the last use of keys. */
  keyUseWrittenMs: 60_000,
  teams: {
    nameChars: 63,
    /** Teams of the service, members of one team, and teams of one user. */
    most: 1_000,
    members: 200,
    perUser: 50,
    /** Sandboxes of a team whose access ends when a member leaves: more than an installation holds. */
    sandboxes: 100_000,
    accessEndedAtOnce: 8,
  },
  userDeletion: {
    /** Sandboxes, and snapshots, that are looked for at once, and sandboxes that are deleted side by side. */
    page: 100,
    atOnce: 4,
    /** Looks of one try: with those pages more than a user can own. */
    rounds: 1_000,
  },
  signIn: {
    /** Sign-ins of one user; a newer one replaces the one that was used longest ago. */
    perUser: 32,
    /** Time without use after which one ends, and its end in any case. */
    idleMs: 24 * 60 * 60_000,
    wholeMs: 30 * 24 * 60 * 60_000,
    /** Age of a token that is replaced, and the pause before another one is given in place of one that was not used. */
    rotateMs: 15 * 60_000,
    offerAgainMs: 60_000,
    /** Time for which the old token is valid after the first use of the new one: requests side by side. */
    overlapMs: 60_000,
    /** Validity of a one-time link, and links of one user at once. */
    linkMs: 15 * 60_000,
    linksPerUser: 8,
    /** Attempts of one address. */
    rate: { perSecond: 0.2, burst: 10 },
    /** A key or ticket, and the body that has it. */
    secretChars: 512,
    bodyBytes: 2_048,
    /** Addresses whose attempts are counted before idle ones are forgotten. */
    addresses: 10_000,
  },
  deviceSignIn: {
    /** Validity of a code, and the pause between two questions for its answer. */
    codeMs: 10 * 60_000,
    pauseMs: 3_000,
    /** Codes that wait for their users: of one network, and of all. */
    perNetwork: 16,
    atOnce: 10_000,
    machineChars: 64,
    /** Questions of one address. */
    questions: { perSecond: 2, burst: 20 },
    /** Longest life of a key that a machine gets, and the usual one: 90 days. */
    keyMinutes: 129_600,
  },
  /** Ten years. */
  keyMinutesMax: 5_256_000,
} as const;
