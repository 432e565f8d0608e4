/** Instructions: what each changes of a stage's settings, and the work on its files that it asks for. */
import { posix } from 'node:path';
import { limits } from '../../model/limits.ts';
import { linuxUserPattern } from '../../model/sandbox.ts';
import type { DockerfileInstruction, Heredoc } from '../ports/index.ts';
import { argsOf, jsonForm, pairsOf } from './plan.ts';
import { atLine, type WordContext, wordOf, wordsOf } from './words.ts';

/** Settings of a stage at one of its lines. */
export interface Settings {
  env: ReadonlyMap<string, string>;
  /** Of this stage alone, and of its programs alone: the snapshot has none. */
  args: ReadonlyMap<string, string>;
  workdir: string;
  /** null: root. */
  user: string | null;
  entrypoint: string[] | null;
  cmd: string[] | null;
  /** false: an ENTRYPOINT takes the inherited CMD away. */
  isCmdOwn: boolean;
  shell: string[];
}

export interface Copying {
  kind: 'copy';
  /** Relative to the context, or to the root of what it copies from. */
  sources: string[];
  /** Absolute; with a slash at the end for a folder. */
  target: string;
  /** Stage or image; null for the context. */
  from: string | null;
  chown: string | null;
  chmod: number | null;
  /** Files that are archives are unpacked into the target. */
  unpacks: boolean;
  /** Files that stand in the Dockerfile itself. */
  inline: { name: string; content: string }[];
}

export type Work =
  | { kind: 'run'; argv: string[] }
  | { kind: 'folder'; path: string }
  | Copying
  | { kind: 'fetch'; url: string; target: string; chown: string | null; chmod: number | null };

export interface Interpreted {
  settings: Settings;
  work: Work | null;
  notes: string[];
}

export interface Scope {
  escapeCharacter: string;
  globals: ReadonlyMap<string, string>;
  /** Of the caller. */
  given: ReadonlyMap<string, string>;
}

type Change = Partial<Settings> & { work?: Work; note?: string };

interface Given {
  instruction: DockerfileInstruction;
  settings: Settings;
  context: WordContext;
  scope: Scope;
}

/** Throws `invalid_argument`, with the line, for what cannot be taken. */
export function interpret(instruction: DockerfileInstruction, settings: Settings, scope: Scope): Interpreted {
  const interpretation = interpretationOf(instruction);
  const { line } = instruction;
  const variables = new Map([...settings.args, ...settings.env]);
  const context = { line, escapeCharacter: scope.escapeCharacter, variables };
  const { work = null, note, ...changed } = interpretation({ instruction, settings, context, scope });
  const next = { ...settings, ...changed };
  assertBounded(line, next);
  return { settings: next, work, notes: note === undefined ? [] : [note] };
}

/** Throws for an instruction that is not taken at all, or not with its flags, whatever stands before it. */
export function interpretationOf({
  line,
  keyword,
  text,
  flags,
}: DockerfileInstruction): (given: Given) => Change {
  const interpretation = Object.hasOwn(keywords, keyword) ? keywords[keyword] : undefined;
  if (!interpretation)
    throw atLine(line, `there is no instruction ${keyword}.`, 'See docs/builds.md for those there are.');
  const known = takenFlags[keyword] ?? [];
  const unknown = flags.find(({ name }) => !known.includes(name));
  if (unknown)
    throw atLine(
      line,
      `${keyword} does not take --${unknown.name}.`,
      `It takes ${known.map((name) => `--${name}`).join(', ') || 'no flags'}.`,
    );
  if (text === '') throw atLine(line, `${keyword} has no arguments.`);
  return interpretation;
}

const ignored = (why: string) => (): Change => ({ note: why });

const takenFlags: Record<string, string[]> = {
  RUN: ['mount', 'network'],
  COPY: ['from', 'chown', 'chmod', 'link'],
  ADD: ['chown', 'chmod', 'link'],
  HEALTHCHECK: ['interval', 'timeout', 'start-period', 'start-interval', 'retries'],
};

const keywords: Record<string, (given: Given) => Change> = {
  RUN: run,
  COPY: copy,
  ADD: copy,
  ENV: ({ instruction, settings, context }) => ({
    env: new Map([...settings.env, ...pairsOf(instruction.text, context)]),
  }),
  ARG: arg,
  WORKDIR({ instruction, settings, context }) {
    const path = posix.resolve(settings.workdir, wordOf(instruction.text, context));
    return { workdir: path, work: { kind: 'folder', path } };
  },
  USER: user,
  ENTRYPOINT({ instruction, settings }) {
    const entrypoint = commandOf(instruction, settings);
    return { entrypoint, ...(settings.isCmdOwn ? {} : { cmd: null }) };
  },
  CMD: ({ instruction, settings }) => ({ cmd: commandOf(instruction, settings), isCmdOwn: true }),
  SHELL({ instruction: { line, text } }) {
    const shell = jsonForm(text);
    if (shell?.length) return { shell };
    throw atLine(line, 'SHELL takes the JSON form alone.', 'Write SHELL ["/bin/bash", "-c"].');
  },
  LABEL: ignored('LABEL is ignored: snapshots have no labels.'),
  EXPOSE: ignored('EXPOSE is ignored: a preview reaches every port of a sandbox.'),
  VOLUME: ignored('VOLUME is ignored: the whole disk of a sandbox is kept.'),
  STOPSIGNAL: ignored('STOPSIGNAL is ignored: a sandbox stops by SIGTERM.'),
  HEALTHCHECK: ignored('HEALTHCHECK is ignored: nothing in a sandbox is checked.'),
  MAINTAINER: ignored('MAINTAINER is ignored.'),
  ONBUILD({ instruction: { line } }) {
    throw atLine(
      line,
      'ONBUILD is not taken.',
      'Write its instruction into the Dockerfiles that begin with this snapshot.',
    );
  },
};

function run({ instruction, settings }: Given): Change {
  const { line, text, raw, heredocs, flags } = instruction;
  const notes = flags.map(({ name, value }) => {
    if (name === 'network' && value !== 'default')
      throw atLine(
        line,
        `RUN --network=${value} is not taken.`,
        "Steps have the network of their owner's sandboxes.",
      );
    const type = name === 'mount' ? (/(?:^|,)type=([a-z]+)/.exec(value ?? '')?.[1] ?? 'bind') : 'cache';
    if (type === 'secret' || type === 'ssh')
      throw atLine(
        line,
        `RUN --mount=type=${type} is not taken.`,
        'Give a sandbox made of the snapshot one of your secrets (sandhaven secret): its value is on no disk.',
      );
    if (type !== 'cache' && type !== 'tmpfs')
      throw atLine(line, `RUN --mount=type=${type} is not taken.`, 'Copy the files by COPY before it.');
    return name === 'mount'
      ? `RUN --mount=type=${type} is ignored: what it writes is kept in the snapshot.`
      : undefined;
  });
  const note = notes.find((one) => one !== undefined);
  const words = heredocs.length === 0 ? jsonForm(text) : null;
  if (words?.length === 0) throw atLine(line, 'RUN has an empty command.');
  return {
    work: { kind: 'run', argv: words ?? [...settings.shell, scriptOf(text, raw, heredocs)] },
    ...(note ? { note } : {}),
  };
}

/** A heredoc alone is the script; one behind a command is that command's, by the shell. */
function scriptOf(text: string, raw: string, [first, second]: Heredoc[]): string {
  if (!first) return text;
  const isAlone = second === undefined && /^<<-?["']?[A-Za-z_][\w.]*["']?$/.test(text.trim());
  return isAlone ? first.content : raw;
}

function copy({ instruction, settings, context }: Given): Change {
  const { line, keyword, text, flags, heredocs } = instruction;
  const flag = (name: string) => {
    const value = flags.find((one) => one.name === name)?.value;
    return value == null ? null : wordOf(value, context);
  };
  const opened = new Map(heredocs.map((heredoc) => [heredoc.name, heredoc]));
  const json =
    heredocs.length > 0
      ? null
      : jsonForm(text)?.map((word) => wordOf(word, { ...context, escapeCharacter: '' }));
  const words = json ?? wordsOf(text, context);
  const last = words.pop();
  if (last === undefined || words.length === 0)
    throw atLine(line, `${keyword} needs a source and a target.`, `Write ${keyword} source target.`);
  const inline: Copying['inline'] = [];
  const sources = words.filter((word) => {
    const heredoc = opened.get(/^<<-?(.*)$/.exec(word)?.[1] ?? '');
    if (heredoc) inline.push({ name: heredoc.name, content: contentOf(heredoc, context) });
    return !heredoc;
  });
  const isFolder = last.endsWith('/') || /(^|\/)\.\.?$/.test(last);
  if (words.length > 1 && !isFolder)
    throw atLine(
      line,
      `${keyword} has several sources, and a target that is no folder.`,
      `End the target with a slash: ${last}/`,
    );
  const resolved = posix.resolve(settings.workdir, last);
  const target = isFolder && resolved !== '/' ? `${resolved}/` : resolved;
  const chmod = modeOf(flag('chmod'), line);
  const chown = flag('chown');
  if (chown !== null && !/^[\w.-]+(:[\w.-]+)?$/.test(chown))
    throw atLine(line, `--chown=${chown} names no user.`, 'Write --chown=user:group, by names or numbers.');
  const [url = ''] = sources;
  if (keyword === 'ADD' && sources.some((source) => /^(https?:\/\/|git@|git:)/.test(source))) {
    if (words.length > 1 || !url.startsWith('http') || url.includes('.git#') || url.endsWith('.git'))
      throw atLine(
        line,
        'ADD takes one URL of a file by http or https.',
        'Fetch others in a RUN, such as with git clone.',
      );
    const file = posix.basename(new URL(url).pathname);
    if (isFolder && file === '')
      throw atLine(line, 'the URL names no file.', 'Give the name of the file as the target.');
    return {
      work: { kind: 'fetch', url, target: isFolder ? posix.join(target, file) : target, chown, chmod },
    };
  }
  const from = flags.find(({ name }) => name === 'from')?.value ?? null;
  return { work: { kind: 'copy', sources, target, from, chown, chmod, unpacks: keyword === 'ADD', inline } };
}

function contentOf({ content, expands }: Heredoc, { variables }: WordContext): string {
  if (!expands) return content;
  return content.replace(/\\(\$)|\$(?:\{([A-Za-z_]\w*)\}|([A-Za-z_]\w*))/g, (_all, escaped, braced, plain) =>
    escaped ? '$' : (variables.get(braced ?? plain) ?? ''),
  );
}

function modeOf(text: string | null, line: number): number | null {
  if (text === null) return null;
  if (/^[0-7]{3,4}$/.test(text)) return Number.parseInt(text, 8);
  throw atLine(line, `--chmod=${text} is no mode.`, 'Write it in octal, such as --chmod=0755.');
}

function arg({ instruction, settings, context, scope }: Given): Change {
  const args = new Map(settings.args);
  for (const [name, usual] of argsOf(instruction.text, context)) {
    const value = scope.given.get(name) ?? usual ?? scope.globals.get(name);
    if (value !== undefined) args.set(name, value);
  }
  return { args };
}

function user({ instruction, context }: Given): Change {
  const given = wordOf(instruction.text, context);
  const [name = '', group] = given.split(':');
  if (!linuxUserPattern.test(name))
    throw atLine(
      instruction.line,
      `'${given}' is not a Linux user.`,
      'Write a name in small letters, or a number up to 65535.',
    );
  const note =
    group === undefined
      ? {}
      : { note: `The group of USER ${given} is ignored: the user's own groups count.` };
  return { user: name === 'root' || name === '0' ? null : name, ...note };
}

function commandOf({ text }: DockerfileInstruction, { shell }: Settings): string[] {
  return jsonForm(text) ?? [...shell, text];
}

function assertBounded(line: number, { env, args }: Settings): void {
  const { variables, environmentBytes } = limits.build;
  const all = [...env, ...args];
  const bytes = all.reduce(
    (sum, [name, value]) => sum + Buffer.byteLength(name) + Buffer.byteLength(value),
    0,
  );
  if (
    all.some(([name]) => name === '' || /[=\0]/.test(name)) ||
    all.some(([, value]) => value.includes('\0'))
  )
    throw atLine(line, 'a variable has no name, or a character that none may have.');
  if (all.length <= variables && bytes <= environmentBytes) return;
  throw atLine(
    line,
    `the environment has ${all.length} variables with ${bytes} bytes; ${variables} with ${environmentBytes} are taken.`,
    'Put long values into a file.',
  );
}
