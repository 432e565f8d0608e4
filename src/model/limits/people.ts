/** Bounds of users, of their keys and of how often these may call. */

export const peopleLimits = {
  userNameChars: 100,
  /** As mail itself bounds an address. */
  userEmailChars: 254,
  keyNameChars: 100,
  /** Of one user, neither revoked nor expired. */
  keysPerUser: 100,
  /** Of one user, revoked or expired: shown for the record. */
  keysKeptPerUser: 1_000,
  /** Keys whose rate is remembered before those that are at rest are forgotten. */
  rateBuckets: 10_000,
  /** How often our own clients send what was refused for its rate. */
  clientTries: 4,
  /** Of a quota: sums stay exact far beyond it. */
  quotaMax: 1_000_000_000,
  /** How often the use of keys is written down. */
  keyUseWrittenMs: 60_000,
  /** Ten years. */
  keyMinutesMax: 5_256_000,
} as const;
