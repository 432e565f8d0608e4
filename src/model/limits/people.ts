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
  /** Ten years. */
  keyMinutesMax: 5_256_000,
} as const;
