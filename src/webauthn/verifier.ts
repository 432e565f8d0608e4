/**
 * Checks WebAuthn by a library. Attestation proves the make of an authenticator, which nobody here asks for: statements with
 * certificates are refused unread, since checking one would fetch addresses that a stranger wrote into it.
 */
import {
  generateAuthenticationOptions,
  generateRegistrationOptions,
  verifyAuthenticationResponse,
  verifyRegistrationResponse,
} from '@simplewebauthn/server';
import { decodeAttestationObject, isoBase64URL } from '@simplewebauthn/server/helpers';
import type { NewCredential, PasskeyVerifier } from '../control/ports/index.ts';
import { limits } from '../model/limits.ts';

/** Ed25519, ECDSA with P-256, RSA with SHA-256: COSE's numbers. */
const ALGORITHMS = [-8, -7, -257];

const NAME = 'Sandhaven';

export function createPasskeyVerifier(): PasskeyVerifier {
  return {
    async askToAdd({ rpId }, { id, name, email }, challenge, known) {
      return generateRegistrationOptions({
        ...{ rpName: NAME, rpID: rpId, userName: email, userDisplayName: name, userID: bytes(id) },
        challenge: new Uint8Array(Buffer.from(challenge, 'base64url')),
        timeout: limits.passkeys.challengeMs,
        attestationType: 'none',
        excludeCredentials: known.map(({ credentialId, transports }) => ({ id: credentialId, transports })),
        authenticatorSelection: { residentKey: 'required', userVerification: 'required' },
        supportedAlgorithmIDs: ALGORITHMS,
      });
    },

    added: ({ origin, rpId }, challenge, answer) =>
      nullUnlessValid(async (): Promise<NewCredential | null> => {
        const { transports = [], ...response } = answer.response;
        if (hasCertificates(response.attestationObject)) return null;
        const { registrationInfo } = await verifyRegistrationResponse({
          response: { ...answer, response, clientExtensionResults: {} },
          ...{ expectedChallenge: challenge, expectedOrigin: origin, expectedRPID: rpId },
          ...{ requireUserVerification: true, supportedAlgorithmIDs: ALGORITHMS },
        });
        if (registrationInfo === undefined) return null;
        const { id, publicKey, counter } = registrationInfo.credential;
        return { credentialId: id, publicKey: Buffer.from(publicKey), counter, transports };
      }),

    askToSign: async ({ rpId }, challenge) =>
      generateAuthenticationOptions({
        ...{ rpID: rpId, userVerification: 'required', timeout: limits.passkeys.challengeMs },
        challenge: new Uint8Array(Buffer.from(challenge, 'base64url')),
      }),

    signed: ({ origin, rpId }, challenge, answer, { credentialId, publicKey, counter }) =>
      nullUnlessValid(async () => {
        const { userHandle: _, ...response } = answer.response;
        const { verified, authenticationInfo } = await verifyAuthenticationResponse({
          response: { ...answer, response, clientExtensionResults: {} },
          ...{ expectedChallenge: challenge, expectedOrigin: origin, expectedRPID: rpId },
          requireUserVerification: true,
          credential: { id: credentialId, publicKey: new Uint8Array(publicKey), counter },
        });
        return verified ? { counter: authenticationInfo.newCounter } : null;
      }),
  };
}

/** An authenticator may sign its own public key with that key ("packed" without x5c), and browsers leave that as it is. */
function hasCertificates(attestationObject: string): boolean {
  const decoded = decodeAttestationObject(isoBase64URL.toBuffer(attestationObject));
  const form = decoded.get('fmt');
  return form !== 'none' && !(form === 'packed' && decoded.get('attStmt').get('x5c') === undefined);
}

/** The library throws for whatever is wrong in an answer, and its messages repeat parts of it. */
async function nullUnlessValid<T>(check: () => Promise<T | null>): Promise<T | null> {
  try {
    return await check();
  } catch {
    return null;
  }
}

function bytes(text: string): Uint8Array<ArrayBuffer> {
  return new Uint8Array(Buffer.from(text));
}
