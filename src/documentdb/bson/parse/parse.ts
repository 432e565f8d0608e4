/**
 * Converts callers' JSON and MongoDB Extended JSON into the values that the driver sends, and such values back
 * into text. Integers are exact, and an error names the place and the right spelling.
 */

import { SandhavenError } from '../../../model/errors.ts';
import { limits } from '../../../model/limits.ts';
import { serialize } from '../library.ts';
import { toEjson } from '../write/write.ts';
import { type JsonMeaning, JsonReader } from './json-reader.ts';
import { parameterOf } from './place.ts';
import { readNumber } from './read-scalars.ts';
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

/** Remaining allowance of the texts of one query, which are parsed synchronously. */
export interface TextAllowance {
  bytes: number;
  values: number;
}

export function textAllowance(): TextAllowance {
  return { bytes: textBytes, values: queryNodes };
}

/** @param name Name of the text in errors: `filter_dict`, `pipeline[2]`. */
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

/** Returns relaxed Extended JSON of one value; `parseEjson` returns the same value again. */
export function formatEjson(value: unknown): string {
  const text = toEjson(serialize({ v: value }), 'lossless');
  return text.slice('{"v":'.length, -1);
}
