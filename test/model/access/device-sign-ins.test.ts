/** Codes that people read from one screen and type on another (RFC 8628, section 6.1). */
import { describe, expect, it } from 'vitest';
import { newUserCode, readUserCode } from '../../../src/model/access/ways-in.ts';

describe('a user code', () => {
  it('is two groups of four consonants', () => {
    const codes = Array.from({ length: 200 }, newUserCode);
    for (const code of codes) expect(code).toMatch(/^[BCDFGHJKLMNPQRSTVWXZ]{4}-[BCDFGHJKLMNPQRSTVWXZ]{4}$/);
    expect(new Set(codes).size).toBe(200);
  });

  it.each(['BCDF-GHJK', 'bcdf-ghjk', 'bcdfghjk', ' BCDF GHJK ', 'b-c-d-f-g-h-j-k'])(
    'is read from %j',
    (typed) => {
      expect(readUserCode(typed)).toBe('BCDF-GHJK');
    },
  );

  it.each(['', 'BCDF', 'BCDF-GHJKL', 'AEIO-UAEI', 'BCDF-GHJ1', 'BCDF-GHJÉ', '<script>'])(
    'is not read from %j',
    (typed) => {
      expect(readUserCode(typed)).toBeNull();
    },
  );
});
