/** Words, stages and instructions of Dockerfiles: what each means, and what is refused, with its line. */
// biome-ignore-all lint/suspicious/noTemplateCurlyInString: Dockerfiles write their variables so.
import { describe, expect, it } from 'vitest';
import { interpret, type Settings } from '../../../src/control/builds/interpret.ts';
import { planOf } from '../../../src/control/builds/plan.ts';
import { wordOf, wordsOf } from '../../../src/control/builds/words.ts';
import { parseDockerfile } from '../../../src/dockerfile/parse.ts';

const variables = new Map([
  ['A', 'one'],
  ['EMPTY', ''],
  ['SPACED', 'x y'],
]);
const context = { line: 4, escapeCharacter: '\\', variables };
const words = (text: string) => wordsOf(text, context);

describe('words', () => {
  it('have their variables replaced, by default values too', () => {
    expect(words('$A ${A}b ${NO:-x y} ${EMPTY:-e} ${EMPTY-e} ${A:+set} ${NO+set}z')).toEqual([
      'one',
      'oneb',
      'x y',
      'e',
      '',
      'set',
      'z',
    ]);
    expect(words('${NO:-${A}}/$NO. $1 $ a$')).toEqual(['one/.', '$1', '$', 'a$']);
    expect(words('$SPACED')).toEqual(['x y']);
  });

  it('keep spaces in quotes and behind the escape character, and no variable in single quotes', () => {
    expect(words(`"a $A" '$A b' c\\ d \\$A "\\$A \\" \\n"`)).toEqual([
      'a one',
      '$A b',
      'c d',
      '$A',
      '$A " \\n',
    ]);
    expect(wordOf('a  "b" c', context)).toBe('a  b c');
  });

  it('are refused with their line where they are not whole', () => {
    expect(() => words('"a')).toThrow('Line 4: a quote " is not closed.');
    expect(() => words('${A')).toThrow("Line 4: '${A' is not closed.");
    expect(() => words(`${'${A:-'.repeat(30_000)}x`)).toThrow(
      'Line 4: more than 20 variables stand in each other.',
    );
    expect(() => words('${A%x}')).toThrow('Line 4: the form of ${A%…} is not taken.');
    expect(() => words('${NO:?why}')).toThrow('Line 4: the variable NO is not set: why');
  });
});

const plan = (text: string, target?: string, args: [string, string][] = []) =>
  planOf(parseDockerfile(text), new Map(args), target);

describe('stages', () => {
  const text =
    'ARG V=1\nFROM base:$V AS One\nRUN a\nFROM one AS two\nFROM base\nCOPY --from=two a b\nCOPY --from=other/image c d\n';

  it('are those that the wanted one needs, with what they begin with', () => {
    const brief = ({ stages }: ReturnType<typeof plan>) =>
      stages.map(({ name, from }) => [name, typeof from === 'string' ? from : from.name]);
    expect(brief(plan(text))).toEqual([
      ['one', 'base:1'],
      ['two', 'one'],
      ['2', 'base'],
    ]);
    expect(brief(plan(text, 'ONE', [['V', '2']]))).toEqual([['one', 'base:2']]);
    expect(brief(plan(text, '1'))).toHaveLength(2);
    expect([...(plan(text).stages[2]?.sources ?? [])].map(([name, from]) => [name, typeof from])).toEqual([
      ['two', 'object'],
      ['other/image', 'string'],
    ]);
  });

  it('are refused where there is none, or none of that name', () => {
    expect(() => plan('')).toThrow('The Dockerfile has no FROM.');
    expect(() => plan('RUN a\nFROM base')).toThrow('Line 1: RUN stands before the first FROM.');
    expect(() => plan(text, 'three')).toThrow("The Dockerfile has no stage 'three'.");
    expect(() => plan('FROM a b')).toThrow('Line 1: FROM needs an image, and AS a name.');
  });
});

const fresh: Settings = {
  ...{ env: new Map([['PATH', '/bin']]), args: new Map(), workdir: '/', user: null },
  ...{ entrypoint: null, cmd: ['inherited'], isCmdOwn: false, shell: ['/bin/sh', '-c'] },
};

/** Interprets all lines behind FROM. */
function interpreted(text: string, given: [string, string][] = []) {
  const { stages, globals, escapeCharacter } = plan(`ARG GLOBAL=g\nFROM base\n${text}`);
  const works: unknown[] = [];
  const notes: string[] = [];
  let settings = fresh;
  for (const instruction of stages[0]?.instructions ?? []) {
    const result = interpret(instruction, settings, { escapeCharacter, globals, given: new Map(given) });
    settings = result.settings;
    if (result.work) works.push(result.work);
    notes.push(...result.notes);
  }
  return { settings, works, notes };
}

describe('instructions', () => {
  it('set the environment: each ENV sees the values before it, and ENV wins over ARG', () => {
    const { settings } = interpreted('ARG A=1 GLOBAL B\nENV A=2 C=$A-$GLOBAL\nENV OLD some "value"\n', [
      ['B', 'given'],
    ]);
    expect([...settings.env]).toEqual([
      ['PATH', '/bin'],
      ['A', '2'],
      ['C', '1-g'],
      ['OLD', 'some value'],
    ]);
    expect([...settings.args]).toEqual([
      ['A', '1'],
      ['GLOBAL', 'g'],
      ['B', 'given'],
    ]);
  });

  it('run by the shell, by words, or by a heredoc', () => {
    const { works } = interpreted(
      'RUN a $B "c"\nRUN ["a", "$B c"]\nSHELL ["bash", "-ec"]\nRUN <<EOF\nx $Y\nEOF\nRUN cat <<EOF > /f\nz\nEOF\n',
    );
    expect(works).toEqual([
      { kind: 'run', argv: ['/bin/sh', '-c', 'a $B "c"'] },
      { kind: 'run', argv: ['a', '$B c'] },
      { kind: 'run', argv: ['bash', '-ec', 'x $Y\n'] },
      { kind: 'run', argv: ['bash', '-ec', 'cat <<EOF > /f\nz\nEOF'] },
    ]);
  });

  it('resolve folders, and copy to a folder or a file', () => {
    const { works, settings } = interpreted(
      'WORKDIR /a\nWORKDIR b\nCOPY x y z/\nCOPY ["s p", "to"]\nCOPY x .\nADD --chmod=755 --chown=1:2 x /\nCOPY --from=base /e f\n',
    );
    expect(settings.workdir).toBe('/a/b');
    const usual = { kind: 'copy', from: null, chown: null, chmod: null, unpacks: false, inline: [] };
    expect(works.slice(2)).toEqual([
      { ...usual, sources: ['x', 'y'], target: '/a/b/z/' },
      { ...usual, sources: ['s p'], target: '/a/b/to' },
      { ...usual, sources: ['x'], target: '/a/b/' },
      { ...usual, sources: ['x'], target: '/', chmod: 0o755, chown: '1:2', unpacks: true },
      { ...usual, sources: ['/e'], target: '/a/b/f', from: 'base' },
    ]);
  });

  it('set what starts: an ENTRYPOINT takes the inherited CMD away, and no own one', () => {
    expect(interpreted('ENTRYPOINT ["a"]\n').settings).toMatchObject({ entrypoint: ['a'], cmd: null });
    expect(interpreted('CMD b c\nENTRYPOINT ["a"]\n').settings).toMatchObject({
      entrypoint: ['a'],
      cmd: ['/bin/sh', '-c', 'b c'],
    });
    expect(interpreted('USER nobody:nogroup\n')).toMatchObject({
      settings: { user: 'nobody' },
      notes: ["The group of USER nobody:nogroup is ignored: the user's own groups count."],
    });
    expect(interpreted('USER nobody\nUSER 0\n').settings.user).toBeNull();
  });

  it('are ignored with a note where a sandbox has nothing like it', () => {
    expect(
      interpreted('LABEL a=b\nEXPOSE 80\nVOLUME /x\nSTOPSIGNAL INT\nHEALTHCHECK NONE\nMAINTAINER m\n').notes,
    ).toHaveLength(6);
    expect(interpreted('RUN --mount=type=cache,target=/c a\n').notes).toEqual([
      'RUN --mount=type=cache is ignored: what it writes is kept in the snapshot.',
    ]);
  });

  it.each([
    ['RUN --mount=type=secret,id=x a', 'Line 3: RUN --mount=type=secret is not taken.'],
    ['RUN --mount=target=/x a', 'Line 3: RUN --mount=type=bind is not taken.'],
    ['RUN --security=insecure a', 'Line 3: RUN does not take --security.'],
    ['RUN --network=none a', 'Line 3: RUN --network=none is not taken.'],
    ['ONBUILD RUN a', 'Line 3: ONBUILD is not taken.'],
    ['COPY a b c', 'Line 3: COPY has several sources, and a target that is no folder.'],
    ['COPY a', 'Line 3: COPY needs a source and a target.'],
    ['COPY --chmod=u+x a b', 'Line 3: --chmod=u+x is no mode.'],
    ['COPY --chown=$(x) a b', 'Line 3: --chown=$(x) names no user.'],
    ['ADD git@host:a.git b', 'Line 3: ADD takes one URL'],
    ['USER Some', "Line 3: 'Some' is not a Linux user."],
    ['SHELL bash', 'Line 3: SHELL takes the JSON form alone.'],
    ['ENV a', "Line 3: 'a' is not a list of NAME=value."],
    ['NOTHING a', 'Line 3: there is no instruction NOTHING.'],
    [`ENV A=${'x'.repeat(70_000)}`, 'Line 3: the environment has 2 variables'],
  ])('are refused with their line: %s', (line, message) => {
    expect(() => interpreted(`${line}\n`)).toThrow(message);
  });
});
