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
