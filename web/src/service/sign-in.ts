/** Signs a browser in and out; `ways.ts` beside it does so by passkey and password. */
import { isSandhavenError } from '@sandhaven/sdk';
import { ownClient } from './client.ts';
import { request } from './request.ts';

export interface SignedIn {
  user: { id: string; name: string; email: string };
  role: 'admin' | 'member' | 'viewer';
  /** null: all that the role allows. */
  scopes: readonly string[] | null;
}

/** A browser that is signed in. */
export interface BrowserSignIn {
  sign_in_id: string;
  user_id: string;
  /** The browser that asks. */
  current: boolean;
  created_at: string;
  last_used_at: string;
  expires_at: string;
  /** Id of the admin who made the key, the link or the identity that it came by; null: the user's own. */
  made_by: string | null;
}

export type Credential = { api_key: string } | { ticket: string };

export interface Caller {
  user_id: string;
  name: string;
  email: string;
  role: 'admin' | 'member' | 'viewer';
  scopes: readonly string[] | null;
}

export async function signIn(credential: Credential): Promise<SignedIn> {
  return signedInOf(await request<Caller>('POST', '/v1/sign-in', credential));
}

/**
 * Begins a sign-in at the identity provider.
 * @param returnPath Path of the page that the browser comes back to.
 * @returns the page of the provider.
 */
export async function startIdentityProviderSignIn(returnPath: string): Promise<string> {
  const body = { return_path: returnPath };
  return (await request<{ url: string }>('POST', '/v1/sign-in/provider', body)).url;
}

/** @returns null where nobody is signed in. */
export async function currentSignIn(): Promise<SignedIn | null> {
  try {
    return signedInOf(await request<Caller>('GET', '/v1/sign-in'));
  } catch (error) {
    if (isSandhavenError(error, 'unauthenticated')) return null;
    throw error;
  }
}

export async function signOut(): Promise<void> {
  await request('DELETE', '/v1/sign-in');
}

/** The newest hundred of this user. */
export async function listSignIns(user: string): Promise<BrowserSignIn[]> {
  const parameters = { user, page_size: 100 };
  const found = ownClient.administration.call<{ sign_ins: BrowserSignIn[] }>('ListSignIns', parameters);
  return (await found).sign_ins;
}

/** @returns how many */
export async function endOtherSignIns(): Promise<number> {
  const ended = await ownClient.administration.call<{ revoked: number }>('RevokeOtherSignIns');
  return ended.revoked;
}

export async function endSignIn(id: string): Promise<void> {
  await ownClient.administration.call('RevokeSignIn', { sign_in: id });
}

export function signedInOf({ user_id: id, name, email, role, scopes }: Caller): SignedIn {
  return { user: { id, name, email }, role, scopes };
}
