/** Stages of a Dockerfile: those that the wanted one needs, in their order. */
import { invalidArgument } from '../../model/errors.ts';
import type { Dockerfile, DockerfileInstruction } from '../ports/index.ts';
import { atLine, wordOf, wordsOf } from './words.ts';

export interface Stage {
  /** From 0, in the file. */
  index: number;
  /** As people know it: its name, or its number. */
  name: string;
  line: number;
  /** An earlier stage, or the reference of an image or snapshot. */
  from: Stage | string;
  instructions: DockerfileInstruction[];
  /** Stages, and images, that its files are copied from, by the text of `--from`. */
  sources: Map<string, Stage | string>;
}

export interface Plan {
  escapeCharacter: string;
  /** The last one is the wanted one. */
  stages: Stage[];
  /** ARGs before the first FROM: instructions ARG take their values. */
  globals: ReadonlyMap<string, string>;
}

/** Values that a stage may ask for by ARG, in Docker's words. */
const platform = new Map([
  ['TARGETOS', 'linux'],
  ['TARGETARCH', process.arch === 'x64' ? 'amd64' : process.arch],
  ['TARGETPLATFORM', `linux/${process.arch === 'x64' ? 'amd64' : process.arch}`],
]);

/** @param target Name or number of a stage; the last by default. */
export function planOf(file: Dockerfile, args: ReadonlyMap<string, string>, target?: string): Plan {
  const { escapeCharacter } = file;
  const globals = new Map(platform);
  const stages: Stage[] = [];
  const named = (text: string) =>
    stages.findLast(({ name, index }) => name === text.toLowerCase() || String(index) === text);
  for (const instruction of file.instructions) {
    const { line, keyword, text, flags } = instruction;
    const stage = stages.at(-1);
    if (keyword === 'FROM') {
      const [reference = '', as, name, extra] = wordsOf(text, { line, escapeCharacter, variables: globals });
      const isNamed = as?.toLowerCase() === 'as' && name !== undefined;
      if (reference === '' || extra !== undefined || (as !== undefined && !isNamed))
        throw atLine(line, 'FROM needs an image, and AS a name.', 'Write FROM image, or FROM image AS name.');
      const index = stages.length;
      const found = named(reference);
      const from = found && String(found.index) !== reference ? found : reference;
      stages.push({
        index,
        name: name?.toLowerCase() ?? String(index),
        line,
        from,
        instructions: [],
        sources: new Map(),
      });
    } else if (stage) {
      stage.instructions.push(instruction);
      const from = flags.find((flag) => flag.name === 'from')?.value;
      if (from && keyword === 'COPY') stage.sources.set(from, sourceOf(from, stage, named(from)));
    } else if (keyword === 'ARG') {
      for (const [name, value] of argsOf(text, { line, escapeCharacter, variables: globals }))
        globals.set(name, args.get(name) ?? value ?? '');
    } else {
      throw atLine(
        line,
        `${keyword} stands before the first FROM.`,
        'Begin with FROM; only ARG may stand before it.',
      );
    }
  }
  const wanted = target === undefined ? stages.at(-1) : named(target);
  if (!wanted && target !== undefined) {
    const names = stages.map(({ name }) => `'${name}'`).join(', ');
    throw invalidArgument('target', `The Dockerfile has no stage '${target}'.`, `It has ${names || 'none'}.`);
  }
  if (!wanted)
    throw invalidArgument(
      'file',
      'The Dockerfile has no FROM.',
      'Begin it with FROM and an image, such as FROM base.',
    );
  const needed = neededBy(wanted);
  return { escapeCharacter, stages: stages.filter((stage) => needed.has(stage)), globals };
}

/** Returns names and, where they are given, default values. */
export function argsOf(text: string, context: Parameters<typeof wordsOf>[1]): [string, string | undefined][] {
  const words = wordsOf(text, context);
  if (words.length === 0)
    throw atLine(context.line, 'ARG names nothing.', 'Write ARG NAME, or ARG NAME=default.');
  return words.map((word) => {
    const at = word.indexOf('=');
    return at < 0 ? [word, undefined] : [word.slice(0, at), word.slice(at + 1)];
  });
}

function sourceOf(from: string, stage: Stage, found: Stage | undefined): Stage | string {
  return found && found !== stage ? found : from;
}

function neededBy(wanted: Stage): Set<Stage> {
  const needed = new Set<Stage>();
  const waiting: (Stage | string)[] = [wanted];
  for (let next = waiting.pop(); next !== undefined; next = waiting.pop()) {
    if (typeof next === 'string' || needed.has(next)) continue;
    needed.add(next);
    waiting.push(next.from, ...next.sources.values());
  }
  return needed;
}

/** Returns the words of the JSON form; null for the other one. */
export function jsonForm(text: string): string[] | null {
  if (!text.startsWith('[')) return null;
  try {
    const parsed: unknown = JSON.parse(text);
    return Array.isArray(parsed) && parsed.every((word) => typeof word === 'string') ? parsed : null;
  } catch {
    return null;
  }
}

/** Returns the pairs of ENV and LABEL: `A=1 B="x y"`, or the older `A some value`. */
export function pairsOf(text: string, context: Parameters<typeof wordsOf>[1]): [string, string][] {
  const words = wordsOf(text, context);
  const [first = ''] = words;
  if (!first.includes('=')) {
    const [, name, value] = /^(\S+)\s+(.+)$/s.exec(text) ?? [];
    if (name !== undefined && value !== undefined) return [[name, wordOf(value, context)]];
  }
  const isPair = (word: string) => word.indexOf('=') > 0;
  if (words.length === 0 || !words.every(isPair))
    throw atLine(
      context.line,
      `'${text.slice(0, 60)}' is not a list of NAME=value.`,
      'Quote values that have spaces: NAME="some value".',
    );
  return words.map((word) => [word.slice(0, word.indexOf('=')), word.slice(word.indexOf('=') + 1)]);
}
