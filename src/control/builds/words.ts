/**
 * Words of a Dockerfile: quotes, escapes and variables, as its instructions take them. The shell of a RUN reads its own.
 * Source: docs.docker.com, "Dockerfile reference", environment replacement.
 */
import { invalidArgument, type SandhavenError } from '../../model/errors.ts';
import { limits } from '../../model/limits.ts';

export interface WordContext {
  line: number;
  escapeCharacter: string;
  variables: ReadonlyMap<string, string>;
}

/** Returns the words between spaces, each without its quotes and with its variables replaced. */
export function wordsOf(text: string, context: WordContext): string[] {
  return new Words(text, context).split();
}

/** Returns the text as one word, spaces included. */
export function wordOf(text: string, context: WordContext): string {
  return new Words(text, context).whole();
}

export function atLine(line: number, detail: string, hint?: string): SandhavenError {
  return invalidArgument('file', `Line ${line}: ${detail}`, hint);
}

const NAME = /^[A-Za-z_][A-Za-z0-9_]*/;

class Words {
  readonly #text: string;
  readonly #context: WordContext;
  #at = 0;
  #depth = 0;

  constructor(text: string, context: WordContext) {
    this.#text = text;
    this.#context = context;
  }

  split(): string[] {
    const words: string[] = [];
    while (this.#at < this.#text.length) {
      if (/\s/.test(this.#next())) this.#at++;
      else words.push(this.#until((character) => /\s/.test(character)));
    }
    return words;
  }

  whole(): string {
    return this.#until(() => false);
  }

  #next(): string {
    return this.#text[this.#at] ?? '';
  }

  #until(isEnd: (character: string) => boolean): string {
    let word = '';
    while (this.#at < this.#text.length && !isEnd(this.#next())) {
      const character = this.#text[this.#at++] ?? '';
      if (character === "'") word += this.#literal();
      else if (character === '"') word += this.#quoted();
      else if (character === '$') word += this.#variable();
      else if (character === this.#context.escapeCharacter && this.#at < this.#text.length)
        word += this.#text[this.#at++];
      else word += character;
    }
    return word;
  }

  #literal(): string {
    const end = this.#text.indexOf("'", this.#at);
    if (end < 0) throw atLine(this.#context.line, "a quote ' is not closed.", "Close it with another '.");
    const literal = this.#text.slice(this.#at, end);
    this.#at = end + 1;
    return literal;
  }

  #quoted(): string {
    let quoted = '';
    for (;;) {
      const character = this.#text[this.#at++];
      if (character === undefined)
        throw atLine(this.#context.line, 'a quote " is not closed.', 'Close it with another ".');
      if (character === '"') return quoted;
      const isEscaped =
        character === this.#context.escapeCharacter && ['"', '$', character].includes(this.#next());
      if (character === '$') quoted += this.#variable();
      else quoted += isEscaped ? this.#text[this.#at++] : character;
    }
  }

  /** The dollar sign is read already. */
  #variable(): string {
    const { line, variables } = this.#context;
    const isBraced = this.#next() === '{';
    const rest = this.#text.slice(this.#at + (isBraced ? 1 : 0));
    const [name] = NAME.exec(rest) ?? [];
    if (name === undefined) {
      if (isBraced) throw atLine(line, `'$${rest.slice(0, 20)}' names no variable.`, `Write \${NAME}.`);
      return '$';
    }
    this.#at += name.length + (isBraced ? 1 : 0);
    const value = variables.get(name);
    if (!isBraced) return value ?? '';
    const [modifier = ''] = /^:?[-+?]/.exec(this.#text.slice(this.#at)) ?? [];
    this.#at += modifier.length;
    if (modifier === '' && !['}', ''].includes(this.#next())) {
      throw atLine(
        line,
        `the form of \${${name}${this.#next()}…} is not taken.`,
        `Write \${NAME}, \${NAME:-default} or \${NAME:+other}; a RUN takes what its shell knows.`,
      );
    }
    if (++this.#depth > limits.build.wordDepth)
      throw atLine(
        line,
        `more than ${limits.build.wordDepth} variables stand in each other.`,
        'Divide them by ENV or ARG.',
      );
    const word = this.#until((character) => character === '}');
    this.#depth -= 1;
    if (this.#next() !== '}') throw atLine(line, `'\${${name}' is not closed.`, 'Close it with }.');
    this.#at++;
    const isSet = value !== undefined && !(modifier.startsWith(':') && value === '');
    if (modifier.endsWith('?') && !isSet)
      throw atLine(
        line,
        `the variable ${name} is not set: ${word || 'it has to be.'}`,
        `Give --build-arg ${name}=VALUE.`,
      );
    if (modifier.endsWith('+')) return isSet ? word : '';
    return isSet ? value : word;
  }
}
