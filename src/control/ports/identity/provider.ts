/** The team's identity provider, for people who sign in with a browser. */
import type { IdentityClaims, ProviderLogout, SignInProof } from '../../../model/access/identity.ts';

/** All methods reject with `unavailable` while the provider does not answer, or answers with something else. */
export interface IdentityProvider {
  /** URL without a slash at its end. */
  readonly issuer: string;
  /** Name for people. */
  readonly name: string;
  /** Returns the URL at the provider where a person signs in. */
  begin(redirectUri: string, proof: SignInProof): Promise<string>;
  /**
   * Verifies the answer that the browser returned with, and fetches the claims for it. Rejects with `permission_denied`
   * where the provider refuses the person, with `unauthenticated` for an answer that does not belong to the proof.
   * @param returned The redirect URI, with the query of the browser's request.
   */
  finish(returned: URL, proof: SignInProof): Promise<IdentityClaims>;
  /** Verifies a logout token. Rejects with `invalid_argument`. */
  readLogout(token: string): Promise<ProviderLogout>;
}
