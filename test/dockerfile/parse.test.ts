/** The parser's adapter: instructions with their lines, as the file has them. */
import { expect, it } from 'vitest';
import { parseDockerfile } from '../../src/dockerfile/parse.ts';

const briefly = (text: string) =>
  parseDockerfile(text).instructions.map(({ line, keyword, text: rest }) => [line, keyword, rest]);

it('joins continued lines, without the comments and empty lines between them', () => {
  const text =
    'from base\n# one\nRUN a && \\\n  # two\n\n  b "c  d" \\\n  e\n\nENV A=1 \\\n    B="x # y"\nCMD ["a", "b c"]\n';
  expect(briefly(text)).toEqual([
    [1, 'FROM', 'base'],
    [3, 'RUN', 'a &&   b "c  d"   e'],
    [9, 'ENV', 'A=1     B="x # y"'],
    [11, 'CMD', '["a", "b c"]'],
  ]);
});

it('takes the escape character that the file names', () => {
  const parsed = parseDockerfile('# escape=`\nFROM base\nRUN dir `\n  c:\\\nRUN b\n');
  expect(parsed.escapeCharacter).toBe('`');
  expect(parsed.instructions.map(({ text }) => text)).toEqual(['base', 'dir   c:\\', 'b']);
});

it('takes flags apart from arguments', () => {
  const { instructions } = parseDockerfile(
    'FROM base\nCOPY --from=x --chown=a:b --link c d\nRUN --mount=type=cache,target=/x y --z=1\n',
  );
  expect(instructions[1]).toMatchObject({
    flags: [
      { name: 'from', value: 'x' },
      { name: 'chown', value: 'a:b' },
      { name: 'link', value: null },
    ],
    text: 'c d',
  });
  expect(instructions[2]).toMatchObject({
    flags: [{ name: 'mount', value: 'type=cache,target=/x' }],
    text: 'y --z=1',
  });
});

it('takes heredocs with their content as it stands', () => {
  const text =
    'FROM base\nCOPY <<A <<-"B" /to/\none \\\n $V\nA\n\t\ttwo\n\tB\nRUN <<EOF sh\necho a\nEOF\nUSER x\n';
  const { instructions } = parseDockerfile(text);
  expect(instructions[1]).toMatchObject({
    line: 2,
    text: '<<A <<-"B" /to/',
    heredocs: [
      { name: 'A', content: 'one \\\n $V\n', expands: true },
      { name: 'B', content: 'two\n', expands: false },
    ],
  });
  expect(instructions[2]).toMatchObject({ line: 8, text: '<<EOF sh', raw: '<<EOF sh\necho a\nEOF' });
  expect(instructions[3]).toMatchObject({ line: 11, keyword: 'USER', text: 'x' });
});

it('refuses a heredoc that nothing ends, and more instructions than are taken', () => {
  expect(() => parseDockerfile('FROM base\nRUN <<EOF\necho\n')).toThrow(
    "Line 2 opens the heredoc 'EOF', and no line ends it.",
  );
  expect(() => parseDockerfile(`FROM base\n${'RUN a\n'.repeat(1_000)}`)).toThrow(
    'has 1001 instructions; at most 1000',
  );
});

it('takes a file of Windows, with a byte order mark', () => {
  expect(briefly('\uFEFFFROM base\r\nRUN a \\\r\n b\r\n')).toEqual([
    [1, 'FROM', 'base'],
    [2, 'RUN', 'a  b'],
  ]);
});
