/** Passkeys: public keys of WebAuthn, each made by an authenticator of its user for one host name. */

export interface Passkey {
  id: string;
  userId: string;
  /** Purpose, in its owner's words. */
  name: string;
  /** Id that the authenticator chose, in base64url. */
  credentialId: string;
  /** In COSE form. */
  publicKey: Buffer;
  /** Last count of the authenticator's signatures; 0 where it keeps none. */
  counter: number;
  /** Ways to reach the authenticator, as the browser named them. */
  transports: string[];
  /** Host name that it works at: the RP ID. */
  rpId: string;
  createdAt: number;
  /** null: never. */
  lastUsedAt: number | null;
}

/** Place of the page, which passkeys are bound to. */
export interface PasskeySite {
  origin: string;
  rpId: string;
}

/** Returns null where browsers offer no passkeys: at an address in place of a name, and over plain HTTP beyond the machine. */
export function passkeySite(origin: string): PasskeySite | null {
  const url = URL.parse(origin);
  if (url === null) return null;
  const { hostname, protocol } = url;
  const isAddress = hostname.startsWith('[') || /^[\d.]+$/.test(hostname);
  const isSecure = protocol === 'https:' || /^(?:.+\.)?localhost$/.test(hostname);
  return isAddress || !isSecure ? null : { origin: url.origin, rpId: hostname };
}
