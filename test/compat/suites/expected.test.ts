import { describe, expect, it } from 'vitest';
import { compare, expectedOf } from './expected.ts';

const document = `# Title

## One

Tests: 3. Of some version.

| test | outcome | reason |
| --- | --- | --- |
| \`a: second\` | fails | Something is missing. |
| \`Group: *\` | out of reach | It needs more. |

## Two

Tests: 1.
`;
const expected = expectedOf(document, 'One');

describe('the table of a suite', () => {
  it('is read, with the number of its tests', () => {
    expect(expected).toEqual({
      tests: 3,
      failing: [
        { test: 'a: second', outcome: 'fails', reason: 'Something is missing.' },
        { test: 'Group: *', outcome: 'out of reach', reason: 'It needs more.' },
      ],
    });
    expect(expectedOf(document, 'Two')).toEqual({ tests: 1, failing: [] });
    expect(() => expectedOf(document, 'Three')).toThrow('no section Three');
  });
});

describe('a run', () => {
  const asExpected = { 'a: first': 'passes', 'a: second': 'it broke', 'Group: x': 'it broke too' };

  it('that is as expected has no difference', () => {
    expect(compare(expected, asExpected)).toEqual({ worse: {}, better: [] });
  });

  it('is worse where a test fails that was to pass', () => {
    expect(compare(expected, { ...asExpected, 'a: first': 'no' }).worse).toEqual({ 'a: first': 'no' });
  });

  it('is worse where tests have not run', () => {
    const { 'Group: x': _, ...fewer } = asExpected;
    expect(compare(expected, fewer).worse).toEqual({
      '(all)': '2 of 3 tests have run',
      'Group: *': 'has not run',
    });
  });

  it('is better where all tests of a row pass', () => {
    expect(compare(expected, { ...asExpected, 'a: second': 'passes' })).toEqual({
      worse: {},
      better: ['a: second'],
    });
  });
});
