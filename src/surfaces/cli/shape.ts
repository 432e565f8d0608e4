/** The form of a command, for completion: the flags it takes, and the kinds of names. Derived from schemas where there is one. */
import type { z } from 'zod';
import { inputJsonSchema } from '../../catalog/json-schema.ts';

/** Kinds of names that completion can find. A place is a file here, or a path in a sandbox. */
export type Named = 'sandbox' | 'snapshot' | 'context' | 'file' | 'place';

/** Value of a flag: none, one of several words, a name of some kind, or any text. */
export type FlagValue = 'none' | 'text' | readonly string[] | { of: Named };

export interface Shape {
  /** By name, as typed after the dashes. */
  flags?: Record<string, FlagValue>;
  /** Kinds of the arguments, in their order. */
  takes?: readonly Named[];
  /** true: further arguments are of the last kind. */
  repeats?: boolean;
  /** By the word that follows. */
  members?: Record<string, Shape>;
}

export function shapeOfInput(input: z.ZodObject): Record<string, FlagValue> {
  const properties = Object.entries(inputJsonSchema({ input }).properties ?? {});
  const flags = properties.map(([name, { type, anyOf = [], ...schema }]): [string, FlagValue] => {
    const flag = name.replaceAll('_', '-');
    const words = schema.enum ?? anyOf.find((one) => one.enum)?.enum;
    if (type === 'boolean') return [flag, 'none'];
    if (words) return [flag, words.map(String)];
    return [flag, name === 'sandbox' || name === 'snapshot' ? { of: name } : 'text'];
  });
  return { ...Object.fromEntries(flags), parameters: { of: 'file' } };
}
