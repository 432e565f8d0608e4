/** Passwords as a way to sign in. */
import { flag } from '../flag.ts';
import { yesOrNo } from '../yes-or-no.ts';

export const passwordSignIn = flag({
  name: 'password-sign-in',
  default: 'no',
  help: 'yes: users may set a password and sign in with it, unless they have a passkey',
  parse: yesOrNo,
});
