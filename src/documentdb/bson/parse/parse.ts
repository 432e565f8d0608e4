/**
 * What callers write, JSON and MongoDB Extended JSON, as the values that the driver sends; and such values as text
 * again. Integers are exact, and an error names the place and the right spelling.
 */
import { serialize } from 'bson';
import { SandhavenError } from '../../../model/errors.ts';
import { limits } from '../../../model/limits.ts';
import { toEjson } from '../write/write.ts';
import { type JsonMeaning, JsonReader } from './json-reader.ts';
import { parameterOf } from './place.ts';
import { readNumber } from './read-number.ts';
import { unwrap } from './wrappers.ts';

const meaning: JsonMeaning = {
  number(source, reader) {
    const value = readNumber(source);
    if (value === null) throw reader.fault([], 'is beyond what a number can be');
    return value;
  },
  document: (document, keys, reader) =>
    unwrap(document, keys, (inside, problem, hint) => reader.fault(inside, problem, hint)),
};

const { textBytes, queryNodes } = limits.documents;

/** What is left for the texts of one query, which are read in one go. */
export interface TextAllowance {
  bytes: number;
  values: number;
}

export function textAllowance(): TextAllowance {
  return { bytes: textBytes, values: queryNodes };
}

/** @param name As errors name the text: `filter_dict`, `pipeline[2]`. */
export function parseEjson(text: string, name: string, allowance = textAllowance()): unknown {
  allowance.bytes -= Buffer.byteLength(text);
  if (allowance.bytes < 0) {
    const parameter = parameterOf(name);
    throw new SandhavenError('too_large', `With ${name} the query is longer than ${textBytes} bytes.`, {
      parameter,
      hint: 'Give a shorter one: a range instead of a long list of values, or several calls.',
    });
  }
  return new JsonReader(text, name, meaning, allowance).read();
}

/** Relaxed Extended JSON of one value; `parseEjson` gives the same value back. */
export function formatEjson(value: unknown): string {
  const text = toEjson(serialize({ v: value }), 'lossless');
  return text.slice('{"v":'.length, -1);
}
