/** Text of one page of a list: within 16,384 characters, with the offset of what was left out. */
import { expect, it } from 'vitest';
import { counted, offsetText } from '../../../src/catalog/parameters/pagination.ts';

const MOST = 16_384;
const RESERVED = 512;
const page = (total_count: number, offset = 0, has_more = false) => ({ total_count, offset, has_more });

it('counts one and several', () => {
  expect([counted(1, 'file'), counted(0, 'file'), counted(2, 'file')]).toEqual([
    '1 file',
    '0 files',
    '2 files',
  ]);
});

it('shows a whole list without a range', () => {
  expect(offsetText('2 files', page(2), ['a', 'b'])).toBe('2 files.\na\nb');
});

it('shows the range of a part, and the offset of the next', () => {
  expect(offsetText('9 files', page(9, 3, true), ['a', 'b'])).toBe(
    '9 files; here 4-5; offset 5 has more.\na\nb',
  );
});

it('shows an offset behind the end as an empty part', () => {
  expect(offsetText('9 files', page(9, 20), [])).toBe('9 files; none from offset 20.');
});

it('takes entries up to the last character of the room, and names the offset of the others', () => {
  const room = MOST - RESERVED - '2 files.'.length;
  const fits = ['x'.repeat(99), 'y'.repeat(room - 101)];
  expect(offsetText('2 files', page(2), fits)).toBe(`2 files.\n${fits.join('\n')}`);
  const tooLong = ['x'.repeat(99), `${fits[1]}y`];
  expect(offsetText('2 files', page(2, 0), tooLong)).toBe(
    `2 files.\n${tooLong[0]}\n… the text ends here; for the other 1: offset 1.`,
  );
});

it('leaves a first entry that is too long to whoever shortens texts', () => {
  const long = 'x'.repeat(MOST);
  expect(offsetText('1 file', page(1), [long])).toBe(`1 file.\n${long}`);
  expect(offsetText('2 files', page(2), [long, 'y'])).toBe(
    `2 files.\n${long}\n… the text ends here; for the other 1: offset 1.`,
  );
});
