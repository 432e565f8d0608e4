/** Values of environment variables that are never shown: those whose key holds one of five words. */
import { expect, it } from 'vitest';
import { redactEnvVars } from '../../src/model/sandbox.ts';

it.each(['TOKEN', 'my_token_1', 'ApiKey', 'KEYBOARD', 'secret', 'DB_PASSWORD', 'auth', 'AUTHOR'])(
  'the value of %s is hidden',
  (key) => {
    expect(redactEnvVars({ [key]: 'x', LANG: 'C' })).toEqual({ [key]: '[redacted]', LANG: 'C' });
  },
);

it.each(['PATH', 'TOKE', 'PASS_WORD', 'KE_Y', ''])('the value of %j is shown', (key) => {
  expect(redactEnvVars({ [key]: 'x' })).toEqual({ [key]: 'x' });
});
