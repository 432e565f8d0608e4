/**
 * What callers write, JSON and MongoDB Extended JSON, as the values that the driver sends; and such values as text
 * again. Integers are exact, and an error names the place and the right spelling.
 */
import { serialize } from 'bson';
import { SandhavenError } from '../../model/errors.ts';
import { limits } from '../../model/limits.ts';
import { type JsonMeaning, JsonReader } from './json-reader.ts';
import { parameterOf } from './place.ts';
import { readNumber } from './read-number.ts';
import { unwrap } from './wrappers.ts';
import { toEjson } from './write.ts';

const meaning: JsonMeaning = {
  number(source, reader) {
    const value = readNumber(source);
    if (value === null) throw reader.fault([], 'is beyond what a number can be');
    return value;
  },
  document: (document, keys, reader) =>
    unwrap(document, keys, (inside, problem, hint) => reader.fault(inside, problem, hint)),
};

/** @param name As errors name the text: `filter_dict`, `pipeline[2]`. */
export function parseEjson(text: string, name: string): unknown {
  const { textBytes } = limits.documents;
  if (Buffer.byteLength(text) > textBytes) {
    throw new SandhavenError('too_large', `${name} is longer than ${textBytes} bytes.`, {
      parameter: parameterOf(name),
      hint: 'Give a shorter one: a range instead of a long list of values, or several calls.',
    });
  }
  return new JsonReader(text, name, meaning).read();
}

/** Relaxed Extended JSON of one value; `parseEjson` gives the same value back. */
export function formatEjson(value: unknown): string {
  const text = toEjson(serialize({ v: value }), 'lossless');
  return text.slice('{"v":'.length, -1);
}
