/**
 * Parses a caller's text as JSON of RFC 8259, beyond the platform's parser: duplicate keys and text that is no
 * Unicode are refused with their place, numbers keep their spelling, and keys keep their order.
 */
import { invalidArgument, type SandhavenError } from '../../../model/errors.ts';
import { limits } from '../../../model/limits.ts';
import type { SyntaxProblem } from './foreign-spelling.ts';
import { excerpt, parameterOf, placeInText, placeOf, shorten, tooManyValues } from './place.ts';
import { type Expected, syntaxFault } from './syntax-fault.ts';

/** Converts the parsed parts into values. */
export interface JsonMeaning {
  number(source: string, reader: JsonReader): unknown;
  document(document: Record<string, unknown>, keys: readonly string[], reader: JsonReader): unknown;
}

const numberForm = /-?(?:0|[1-9][0-9]*)(?:\.[0-9]+)?(?:[eE][+-]?[0-9]+)?/y;
/** Continuation of an invalid number. */
const numberTail = /[\w.+]/;
const blanks = /[ \t\n\r]*/y;
const literals = [
  ['true', true],
  ['false', false],
  ['null', null],
] as const;
const escapes: Record<string, string> = {
  '"': '"',
  '\\': '\\',
  '/': '/',
  b: '\b',
  f: '\f',
  n: '\n',
  r: '\r',
  t: '\t',
};

export class JsonReader {
  private readonly text: string;
  private readonly name: string;
  private readonly meaning: JsonMeaning;
  private readonly allowance: { values: number };
  private at = 0;
  /** Path from the whole text to the current value. */
  private readonly path: (string | number)[] = [];
  /** Start positions of the open objects and arrays. */
  private readonly opened: number[] = [];

  /** @param allowance Number of values left; each value read is taken off. */
  constructor(text: string, name: string, meaning: JsonMeaning, allowance: { values: number }) {
    this.text = text;
    this.name = name;
    this.meaning = meaning;
    this.allowance = allowance;
  }

  read(): unknown {
    const value = this.value();
    this.skipBlanks();
    if (this.at < this.text.length) throw this.syntax('end');
    return value;
  }

  /** Builds an error in the current value, or inside it. */
  fault(inside: readonly string[], problem: string, hint?: string): SandhavenError {
    const place = placeOf(this.name, [...this.path, ...inside]);
    return invalidArgument(parameterOf(this.name), `${place} ${problem}.`, hint);
  }

  private value(): unknown {
    if (--this.allowance.values < 0) throw this.fault([], tooManyValues.problem, tooManyValues.hint);
    this.skipBlanks();
    const { text, at } = this;
    switch (text[at]) {
      case '{':
        return this.document();
      case '[':
        return this.array();
      case '"':
        return this.wellFormed(this.string());
    }
    for (const [word, value] of literals) {
      if (!text.startsWith(word, at) || /[\w(]/.test(text[at + word.length] ?? '')) continue;
      this.at += word.length;
      return value;
    }
    return this.number();
  }

  private document(): unknown {
    this.open();
    const document: Record<string, unknown> = {};
    const keys: string[] = [];
    this.skipBlanks();
    while (this.text[this.at] !== '}') {
      if (keys.length > 0) this.take(',', 'comma');
      this.skipBlanks();
      const key = this.key(document);
      keys.push(key);
      this.take(':', 'colon');
      this.path.push(key);
      setKey(document, key, this.value());
      this.path.pop();
      this.skipBlanks();
    }
    this.close();
    return this.meaning.document(inOrder(document, keys), keys, this);
  }

  private array(): unknown[] {
    this.open();
    const array: unknown[] = [];
    this.skipBlanks();
    while (this.text[this.at] !== ']') {
      if (array.length > 0) this.take(',', 'comma');
      this.path.push(array.length);
      array.push(this.value());
      this.path.pop();
      this.skipBlanks();
    }
    this.close();
    return array;
  }

  private key(document: Record<string, unknown>): string {
    if (this.text[this.at] !== '"') throw this.syntax('key');
    const begin = this.at;
    const key = this.string();
    const problem = keyProblem(key, Object.hasOwn(document, key));
    if (problem === null) return key;
    const where = `at ${placeInText(this.text, begin)}: ${excerpt(this.text, begin)}`;
    throw this.fault([], `${problem.problem} ${where}`, problem.hint);
  }

  private number(): unknown {
    numberForm.lastIndex = this.at;
    const source = numberForm.exec(this.text)?.[0];
    if (source === undefined) throw this.syntax('value');
    if (numberTail.test(this.text[this.at + source.length] ?? '')) throw this.syntax('number');
    this.at += source.length;
    return this.meaning.number(source, this);
  }

  private string(): string {
    const { text } = this;
    const begin = this.at++;
    let string = '';
    for (;;) {
      const from = this.at;
      while (isPlain(text.charCodeAt(this.at))) this.at++;
      string += text.slice(from, this.at);
      const next = text[this.at];
      if (next === '"') {
        this.at++;
        return string;
      }
      if (next === undefined) throw this.syntax('quote', begin);
      if (next !== '\\') throw this.syntax('character');
      string += this.escape();
    }
  }

  private escape(): string {
    const letter = this.text[this.at + 1] ?? '';
    const simple = escapes[letter];
    if (simple !== undefined) {
      this.at += 2;
      return simple;
    }
    const hex = /^[0-9a-fA-F]{4}$/.exec(this.text.slice(this.at + 2, this.at + 6))?.[0];
    if (letter !== 'u' || hex === undefined) throw this.syntax('escape');
    this.at += 6;
    return String.fromCharCode(Number.parseInt(hex, 16));
  }

  /** Half of a surrogate pair has no UTF-8, so the database would get another text. */
  private wellFormed(string: string): string {
    if (string.isWellFormed()) return string;
    throw this.fault([], 'holds half of a surrogate pair', 'Give text of whole Unicode characters.');
  }

  private open(): void {
    if (this.opened.length >= limits.documents.depth) {
      const at = placeInText(this.text, this.at);
      throw this.fault([], `is nested more than ${limits.documents.depth} levels deep, at ${at}`);
    }
    this.opened.push(this.at++);
  }

  private close(): void {
    this.at++;
    this.opened.pop();
  }

  private take(character: string, expected: Expected): void {
    this.skipBlanks();
    if (this.text[this.at] !== character) throw this.syntax(expected);
    this.at++;
  }

  private skipBlanks(): void {
    blanks.lastIndex = this.at;
    this.at += blanks.exec(this.text)?.[0].length ?? 0;
  }

  private syntax(expected: Expected, at = this.at): SandhavenError {
    return syntaxFault(this.text, this.name, at, expected, this.opened.at(-1));
  }
}

/** Returns true for characters unescaped in a string. False for NaN, the result at the end of the text. */
function isPlain(code: number): boolean {
  return code >= 0x20 && code !== 0x22 && code !== 0x5c;
}

/** Returns null for a valid key. */
function keyProblem(key: string, isTaken: boolean): SyntaxProblem | null {
  if (!key.isWellFormed()) {
    return { problem: 'has a key with half of a surrogate pair', hint: 'Give a key of whole characters.' };
  }
  if (key.includes('\0')) {
    return { problem: 'has a key with a NUL', hint: 'The names of fields hold no NUL.' };
  }
  if (key === '_bsontype') {
    return {
      problem: 'has the key _bsontype',
      hint: 'The driver keeps this name for itself; leave it out.',
    };
  }
  return isTaken ? twice(key) : null;
}

function twice(key: string): SyntaxProblem {
  const hint = key.startsWith('$')
    ? 'Which one is meant? Put both into one, or into {"$and": [{…}, {…}]}.'
    : 'Which one is meant? Put both conditions on the field into one: {"field": {"$gte": 1, "$lt": 5}}.';
  return { problem: `has the key ${JSON.stringify(shorten(key))} a second time`, hint };
}

/**
 * Keeps a document's keys in their written order. JavaScript puts keys that look like array indexes first, but the
 * order of a sort, or of a document compared as a whole, is part of its meaning. Returns the document itself when
 * JavaScript's order is already right.
 */
export function inOrder(document: Record<string, unknown>, keys: readonly string[]): Record<string, unknown> {
  if (keys.length < 2 || !keys.some(looksLikeIndex)) return document;
  const actual = Object.keys(document);
  if (actual.every((key, index) => key === keys[index])) return document;
  const ordered = [...keys];
  return new Proxy(document, { ownKeys: () => ordered });
}

/** Treats `__proto__` like any other key. */
function setKey(document: Record<string, unknown>, key: string, value: unknown): void {
  if (key !== '__proto__') {
    document[key] = value;
    return;
  }
  Object.defineProperty(document, key, { value, writable: true, enumerable: true, configurable: true });
}

/** A false positive only costs a closer look. */
function looksLikeIndex(key: string): boolean {
  const first = key.charCodeAt(0);
  return first >= 0x30 && first <= 0x39;
}
