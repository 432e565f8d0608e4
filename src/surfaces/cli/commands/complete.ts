/** Finds what may follow on a command line: words, flags, and names. */
import { commonFlags } from '../flags.ts';
import type { Command } from '../io.ts';
import type { FlagValue, Named, Shape } from '../shape.ts';

/** Flags on the line that say where the service is. */
export type Located = Map<string, string>;

/** Returns names of a kind; none when nobody answers. */
export type FindNames = (kind: Named, located: Located) => Promise<readonly string[]>;

export interface Found {
  candidates: string[];
  /** true: files of this machine may follow too. */
  files: boolean;
  /** true: more of the same word follows, so no space does. */
  joined: boolean;
}

const nothing: Found = { candidates: [], files: false, joined: false };

/** Flags of every command. */
const everywhere: Record<string, FlagValue> = {
  ...Object.fromEntries(
    Object.entries(commonFlags).map(([name, { type }]) => [name, type === 'boolean' ? 'none' : 'text']),
  ),
  context: { of: 'context' },
  'data-dir': { of: 'file' },
};
const locating = ['url', 'data-dir', 'context'];

/** @param words After the program's name; the last one is being typed. */
export async function complete(
  words: readonly string[],
  commands: Record<string, Command>,
  find: FindNames,
): Promise<Found> {
  const current = words.at(-1) ?? '';
  const { shape, members, located, pending, ended, positionals } = readWords(words.slice(0, -1), commands);
  const flags = { ...everywhere, ...shape.flags };
  const names = (value: FlagValue | undefined, typed: string, before: string) =>
    valuesOf(value, { typed, before }, (kind) => find(kind, located));
  // A command of the sandbox follows, which nobody here knows.
  if (ended) return { ...nothing, files: true };
  if (pending !== null) return names(own(flags, pending), current, '');
  const [, flag, begun = ''] = /^--([^=]+)=(.*)$/s.exec(current) ?? [];
  if (flag !== undefined) return names(own(flags, flag), begun, `--${flag}=`);
  if (current.startsWith('-') && current !== '-') {
    const written = Object.keys(flags).map((name) => `--${name}`);
    return { ...nothing, candidates: matching(written, current) };
  }
  if (members && positionals === 0) return { ...nothing, candidates: matching(members, current) };
  const { takes = [], repeats = false } = shape;
  const kind = takes[positionals] ?? (repeats ? takes.at(-1) : undefined);
  return names(kind && { of: kind }, current, '');
}

interface Read {
  /** Of the command so far. */
  shape: Shape;
  /** Words that name what comes next; null where none does. */
  members: string[] | null;
  located: Located;
  /** Flag whose value is being typed. */
  pending: string | null;
  /** true after `--`. */
  ended: boolean;
  positionals: number;
}

function readWords(words: readonly string[], commands: Record<string, Command>): Read {
  const root: Shape = { flags: { version: 'none' } };
  const read: Read = {
    shape: root,
    members: Object.keys(commands),
    located: new Map(),
    pending: null,
    ended: false,
    positionals: 0,
  };
  for (const word of words) {
    if (read.ended) continue;
    if (read.pending !== null) take(read, read.pending, word);
    else if (word === '--') read.ended = true;
    else if (word.startsWith('--')) takeFlag(read, word.slice(2));
    else if (word.startsWith('-') && word !== '-') continue;
    else if (read.members?.includes(word) && read.positionals === 0) {
      const inner = read.shape === root ? own(commands, word)?.shape?.() : own(read.shape.members, word);
      read.shape = inner ?? {};
      read.members = read.shape.members ? Object.keys(read.shape.members) : null;
    } else read.positionals++;
  }
  return read;
}

function takeFlag(read: Read, text: string): void {
  const equals = text.indexOf('=');
  if (equals !== -1) take(read, text.slice(0, equals), text.slice(equals + 1));
  else {
    const value = own({ ...everywhere, ...read.shape.flags }, text);
    read.pending = value === undefined || value === 'none' ? null : text;
  }
}

function take(read: Read, flag: string, value: string): void {
  read.pending = null;
  // The `--url` of a tool is none of the service.
  if (locating.includes(flag) && own(read.shape.flags, flag) === undefined) read.located.set(flag, value);
}

/** @param before Part of the word that stays, such as `--state=`. */
async function valuesOf(
  value: FlagValue | undefined,
  { typed, before }: { typed: string; before: string },
  find: (kind: Named) => Promise<readonly string[]>,
): Promise<Found> {
  if (value === undefined || value === 'none' || value === 'text') return nothing;
  const written = (words: readonly string[]) => matching(words, typed).map((word) => before + word);
  if (!('of' in value)) return { ...nothing, candidates: written(value) };
  const { of } = value;
  if (of === 'file') return { ...nothing, files: true };
  if (of !== 'place') return { ...nothing, candidates: written(await find(of)) };
  // A path of a file here, or of a sandbox, whose files nobody lists here.
  if (/[:/]/.test(typed)) return { ...nothing, files: !typed.includes(':') };
  const sandboxes = (await find('sandbox')).map((name) => `${name}:`);
  return { candidates: written(sandboxes), files: true, joined: true };
}

function matching(words: readonly string[], typed: string): string[] {
  return words.filter((word) => word.startsWith(typed));
}

function own<T>(record: Record<string, T> | undefined, name: string): T | undefined {
  return record !== undefined && Object.hasOwn(record, name) ? record[name] : undefined;
}
