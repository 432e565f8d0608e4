/** Passwords as a way to sign in. */
import { invalidArgument } from '../../../model/errors.ts';
import { flag } from '../flag.ts';

export const passwordSignIn = flag({
  name: 'password-sign-in',
  default: 'no',
  help: 'yes: users may set a password and sign in with it, unless they have a passkey',
  parse(text, { flag }): boolean {
    if (text === 'yes' || text === 'no') return text === 'yes';
    throw invalidArgument(flag, `${flag} must be yes or no, and '${text}' was given.`);
  },
});
