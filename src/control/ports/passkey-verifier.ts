/** WebAuthn: questions for the browser, and the check of its answers. */
import type { Passkey, PasskeySite } from '../../model/access/passkeys.ts';
import type { User } from '../../model/user.ts';

/** Answer of a browser that made a passkey, with its fields bounded and in base64url. */
export interface AddingAnswer {
  id: string;
  rawId: string;
  type: 'public-key';
  response: { clientDataJSON: string; attestationObject: string; transports?: string[] | undefined };
}

/** Answer of a browser that signed with a passkey, alike. */
export interface SigningAnswer {
  id: string;
  rawId: string;
  type: 'public-key';
  response: {
    clientDataJSON: string;
    authenticatorData: string;
    signature: string;
    /** Id of the user, as it was given with the passkey. */
    userHandle?: string | null | undefined;
  };
}

export type NewCredential = Pick<Passkey, 'credentialId' | 'publicKey' | 'counter' | 'transports'>;

export interface PasskeyVerifier {
  /** Returns the options for `navigator.credentials.create`, in JSON. */
  askToAdd(site: PasskeySite, user: User, challenge: string, known: readonly Passkey[]): Promise<object>;
  /** Returns null for an answer that does not hold: another place, challenge or form, or a user that was not verified. */
  added(site: PasskeySite, challenge: string, answer: AddingAnswer): Promise<NewCredential | null>;
  /** Returns the options for `navigator.credentials.get`, in JSON. They name no user. */
  askToSign(site: PasskeySite, challenge: string): Promise<object>;
  /** Returns the authenticator's count; null for an answer that does not hold, also by its count. */
  signed(
    site: PasskeySite,
    challenge: string,
    answer: SigningAnswer,
    passkey: Passkey,
  ): Promise<{ counter: number } | null>;
}
