/** Passkeys and passwords: the routes of the page, and the requests to the browser between them. */
import {
  type PublicKeyCredentialCreationOptionsJSON,
  type PublicKeyCredentialRequestOptionsJSON,
  startAuthentication,
  startRegistration,
} from '@simplewebauthn/browser';
import { ownClient } from './client.ts';
import { request } from './request.ts';
import { type Caller, type SignedIn, signedInOf } from './sign-in.ts';

export interface Passkey {
  passkey_id: string;
  name: string;
  works_at: string;
  created_at: string;
  last_used_at: string | null;
}

export interface OwnWays {
  passkeys: Passkey[];
  password_changed_at: string | null;
}

/** Ways of signing in at this address. */
export interface Ways {
  ways: string[];
  /** The team's identity provider; null without one. */
  provider: { name: string } | null;
}

export function listWays(): Promise<Ways> {
  return request<Ways>('GET', '/v1/sign-in/ways');
}

export async function signInByPasskey(): Promise<SignedIn> {
  const response = await answered(
    '/v1/sign-in/passkey/challenge',
    (optionsJSON: PublicKeyCredentialRequestOptionsJSON) => startAuthentication({ optionsJSON }),
  );
  return signedInOf(await request<Caller>('POST', '/v1/sign-in/passkey', { response }));
}

export async function signInByPassword(user: string, password: string): Promise<SignedIn> {
  return signedInOf(await request<Caller>('POST', '/v1/sign-in/password', { user, password }));
}

export async function addPasskey(name: string): Promise<void> {
  const response = await answered(
    '/v1/passkeys/challenge',
    (optionsJSON: PublicKeyCredentialCreationOptionsJSON) => startRegistration({ optionsJSON }),
  );
  await request('POST', '/v1/passkeys', { name, response });
}

export async function setPassword(password: string): Promise<void> {
  await request('PUT', '/v1/sign-in/password', { password });
}

export const ownWays = {
  list: () => ownClient.administration.call<OwnWays>('ListPasskeys'),
  rename: (passkey: string, name: string) =>
    ownClient.administration.call('RenamePasskey', { passkey, name }),
  remove: (passkey: string) => ownClient.administration.call('RemovePasskey', { passkey }),
  removePassword: () => ownClient.administration.call('RemovePassword'),
};

/** Browsers give one reason for a person who declines, a device that has no passkey, and a timeout. */
async function answered<Options, Answer>(
  path: string,
  ask: (options: Options) => Promise<Answer>,
): Promise<Answer> {
  const { options } = await request<{ options: Options }>('POST', path, {});
  try {
    return await ask(options);
  } catch (error) {
    const isKnown = error instanceof Error && error.name === 'InvalidStateError';
    throw new Error(
      isKnown
        ? 'This device has a passkey of yours already.'
        : 'The browser gave no passkey: it was declined, or this device has none for this address.',
    );
  }
}
