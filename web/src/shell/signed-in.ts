/** The signed-in user, for every screen. */
import { createContext, use } from 'react';
import type { SignedIn } from '../service/sign-in.ts';

export const SignedInContext = createContext<SignedIn | null>(null);

export function useSignedIn(): SignedIn {
  const signedIn = use(SignedInContext);
  if (!signedIn) throw new Error('Nobody is signed in.');
  return signedIn;
}
