/** What is left out of every text from outside. */
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { createScrub, scrubbedError } from '../../../src/documentdb/connection/scrub.ts';

const SERVER_MESSAGE_CHARS = 500;

const password = fc
  .string({ minLength: 4, maxLength: 30, unit: 'binary' })
  .filter((text) => text.trim() === text);

describe('a scrubbed text', () => {
  it('[DDB-AUTH-02] holds no password, however it is written', () => {
    fc.assert(
      fc.property(password, fc.string(), fc.string(), (secret, before, after) => {
        fc.pre(!`${before}…${after}`.includes(secret));
        const written = encodeURIComponent(secret);
        const connectionString = `mongodb://someone:${written}@host:1/db`;
        const scrub = createScrub(connectionString);
        for (const spelled of [secret, written, connectionString]) {
          const shown = scrub(`${before}${spelled}${after}`);
          expect(shown).not.toContain(written);
          expect(shown).not.toContain(secret);
        }
      }),
    );
  });

  it('holds no connection string at all', () => {
    const scrub = createScrub('mongodb://a:bcde@host/');
    expect(scrub('cannot use mongodb+srv://other:thing@elsewhere/db?x=1 here')).toBe(
      'cannot use mongodb://… here',
    );
  });

  it('of a password with an @ or a slash that is not encoded hides all of it', () => {
    const scrub = createScrub('mongodb://user:p@ss/word@host:1/db');
    expect(scrub('password p@ss/word refused')).toBe('password … refused');
  });

  it('is one line of bounded length', () => {
    const shown = createScrub('mongodb://host/')(`a\nb\u2028c${'x'.repeat(10_000)}`);
    expect(shown.startsWith('a b c')).toBe(true);
    expect(shown.length).toBe(SERVER_MESSAGE_CHARS + 1);
  });
});

describe('a scrubbed error', () => {
  it('keeps name, code, message and stack, and nothing else', () => {
    const error = Object.assign(new Error('no s3cret here'), { code: 13, options: { password: 's3cret' } });
    error.name = 'MongoServerError';
    const copy = scrubbedError(error, 'mongodb://user:s3cret@host/');
    expect(copy).toMatchObject({ name: 'MongoServerError', code: 13, message: 'no … here' });
    expect(copy.stack).toContain('scrub.test.ts');
    expect(JSON.stringify(Object.getOwnPropertyDescriptors(copy))).not.toContain('s3cret');
  });
});
