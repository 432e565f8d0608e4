/** Parameters of passkeys. */
import { text, textWithoutNul } from '../../catalog/parameters/text.ts';
import { limits } from '../../model/limits.ts';

export const passkey = textWithoutNul()
  .min(1)
  .max(100)
  .describe('ID of the passkey, as ListPasskeys shows it.');

export const name = text()
  .min(1)
  .max(limits.passkeys.nameChars)
  .regex(/^[^\p{C}]+$/u, 'must not contain control characters')
  .describe('Name for people, such as that of the device.');
