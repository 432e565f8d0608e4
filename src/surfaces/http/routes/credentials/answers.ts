/** Answers of browsers about passkeys, bounded before anything reads them. Fields that nobody needs are left out. */
import { z } from 'zod';
import { name } from '../../../../administration/credentials.ts';
import { limits } from '../../../../model/limits.ts';

const { credentialIdChars, textChars, transports, transportChars } = limits.passkeys;

const base64url = (max: number) =>
  z
    .string()
    .max(max)
    .regex(/^[\w-]+$/, 'must be base64url')
    .meta({ sensitive: true });

const credential = { id: base64url(credentialIdChars), rawId: base64url(credentialIdChars) };
const type = z.literal('public-key');

export const addingInput = z.strictObject({
  name,
  response: z.object({
    ...{ ...credential, type },
    response: z.object({
      clientDataJSON: base64url(textChars),
      attestationObject: base64url(textChars),
      transports: z
        .array(
          z
            .string()
            .max(transportChars)
            .regex(/^[a-z-]+$/),
        )
        .max(transports)
        .optional(),
    }),
  }),
});

export const signingInput = z.strictObject({
  response: z.object({
    ...{ ...credential, type },
    response: z.object({
      clientDataJSON: base64url(textChars),
      authenticatorData: base64url(textChars),
      signature: base64url(textChars),
      userHandle: base64url(textChars).nullish(),
    }),
  }),
});
