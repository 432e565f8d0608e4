/** Parameters that several actions on secrets take. */
import { z } from 'zod';
import { integerWithDefault, optionalInteger } from '../../catalog/parameters/integer.ts';
import { atMostBytes, textWithoutNul } from '../../catalog/parameters/text.ts';
import { limits } from '../../model/limits.ts';
import { secretNamePattern, variablePattern } from '../../model/secrets/secret.ts';

const { nameChars, targets: mostTargets, targetChars, valueBytes } = limits.secrets;

export const secret = textWithoutNul().min(1).max(nameChars).describe('Name or ID of the secret.');

export const secretName = z
  .string()
  .min(1)
  .max(nameChars)
  .regex(secretNamePattern, 'must be letters, digits, dot, underscore and hyphen')
  .refine((name) => !name.startsWith('se_'), 'must not begin with se_, which is kept for IDs')
  .describe('Unique name: 1-63 letters, digits, . _ -');

export const value = textWithoutNul()
  .min(1)
  .check(atMostBytes(valueBytes))
  .meta({ description: 'The secret itself; for aws ACCESS_KEY_ID:SECRET_ACCESS_KEY.', sensitive: true });

export const targets = z
  .array(z.string().min(1).max(targetChars))
  .min(1)
  .max(mostTargets)
  .describe('Requests that carry it: https://api.example.com, or GET,POST https://*.example.com:8443/v1.');

export const variable = z
  .string()
  .max(limits.envKeyChars)
  .regex(variablePattern, 'must be the name of an environment variable')
  .describe('Environment variable that holds its placeholder inside.');

const untilItEnds = 'Minutes until no request carries it any more, 0 for never';
const minutes = { min: 0, max: limits.keyMinutesMax };

export const expiresInMinutes = integerWithDefault(untilItEnds, { ...minutes, default: 0 });
export const laterExpiresInMinutes = optionalInteger(untilItEnds, minutes);
