/** Signs a browser in and out: the one file that knows the routes of sign-in. */
import { isSandhavenError } from '@sandhaven/sdk';
import { request } from './request.ts';

export interface SignedIn {
  user: { id: string; name: string; email: string };
  role: 'admin' | 'member';
}

/** A browser that is signed in. */
export interface BrowserSignIn {
  id: string;
  created_at: string;
  last_used_at: string | null;
  expires_at: string | null;
  /** The browser that asks. */
  current?: boolean;
  user_agent?: string | null;
  address?: string | null;
}

export type Credential = { api_key: string } | { ticket: string };

export async function signIn(credential: Credential): Promise<SignedIn> {
  return request('POST', '/v1/sign-in', credential);
}

/** @returns null where nobody is signed in. */
export async function currentSignIn(): Promise<SignedIn | null> {
  try {
    return await request<SignedIn>('GET', '/v1/sign-in');
  } catch (error) {
    if (isSandhavenError(error, 'unauthenticated')) return null;
    throw error;
  }
}

export async function signOut(): Promise<void> {
  await request('DELETE', '/v1/sign-in');
}

export async function listSignIns(): Promise<BrowserSignIn[]> {
  const { sign_ins } = await request<{ sign_ins: BrowserSignIn[] }>('GET', '/v1/sign-ins');
  return sign_ins;
}

export async function endSignIn(id: string): Promise<void> {
  await request('DELETE', `/v1/sign-ins/${encodeURIComponent(id)}`);
}
