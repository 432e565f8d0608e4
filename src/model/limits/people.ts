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
  /** Interval of writing the last use of keys. */
  keyUseWrittenMs: 60_000,
  /** Ten years. */
  keyMinutesMax: 5_256_000,
} as const;
