/** Bounds of registries. */
import { KiB } from './units.ts';

export const registriesLimits = {
  registries: {
    /** Registries with credentials. */
    credentials: 100,
    /** A host with its port. */
    nameChars: 261,
    usernameChars: 255,
    /** Tokens of cloud registries are JSON Web Tokens, or keys of service accounts as JSON. */
    passwordBytes: 16 * KiB,
    /** Entries of --registry-mirror, and of --registry-allow. */
    rules: 100,
    /** Entries of the allow-list that an error names. */
    rulesShown: 10,
    /** Timeout of one request to a mirror, before the registry itself. */
    mirrorTimeoutMs: 15_000,
  },
} as const;
