/** Bounds of what is known of registries. */
import { KiB } from './units.ts';

export const registriesLimits = {
  registries: {
    /** Registries with credentials. */
    credentials: 100,
    /** Of a host with its port. */
    nameChars: 261,
    usernameChars: 255,
    /** Tokens of cloud registries are JSON Web Tokens, or keys of service accounts as JSON. */
    passwordBytes: 16 * KiB,
    /** Entries of --registry-mirror, and of --registry-allow. */
    rules: 100,
    /** Entries of the allow-list that a refusal names. */
    rulesShown: 10,
    /** One question to a mirror, which the registry itself is asked after. */
    mirrorTimeoutMs: 15_000,
  },
} as const;
