/** A secret as the engine uses it for one machine. Never stored, logged or shown in this form. */

/** Place of the secret in a request. */
export type SecretPlace =
  /** `format` has `{secret}` once, like `Bearer {secret}`; the name is lower-case. */
  | { in: 'header'; name: string; format: string }
  | { in: 'query'; name: string }
  /** Password of basic authentication; null keeps the user name that the client sends. */
  | { in: 'basic'; username: string | null }
  /** Signature of AWS (version 4); the value is `ACCESS_KEY_ID:SECRET_ACCESS_KEY[:SESSION_TOKEN]`. */
  | { in: 'aws' };

/** Requests that carry the secret. */
export interface SecretTarget {
  /** `api.example.com`, or `*.example.com` for all names below; lower-case. */
  host: string;
  port: number;
  /** Upper case; empty for all. */
  methods: string[];
  /** All paths at and below it; null for all. */
  path: string | null;
}

export interface SecretUse {
  /** Id of the secret. */
  secret: string;
  name: string;
  /** Stands for the value inside. */
  placeholder: string;
  value: string;
  targets: SecretTarget[];
  place: SecretPlace;
  /** Milliseconds since the epoch: no request carries it from then on. Null: never. */
  expiresAt: number | null;
}
