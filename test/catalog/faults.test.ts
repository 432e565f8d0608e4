/** Words of refused parameters, on schemas made for it. */
import { describe, expect, it } from 'vitest';
import { z } from 'zod';
import { validateInput } from '../../src/catalog/validate.ts';
import { SandhavenError } from '../../src/model/errors.ts';

const HINT = 'count: How many.';

function refuse(shape: Record<string, z.ZodType>, raw: unknown) {
  try {
    validateInput(z.strictObject(shape), raw);
  } catch (error) {
    if (!(error instanceof SandhavenError)) throw error;
    expect(error.code).toBe('invalid_argument');
    return { detail: error.message, parameter: error.fields.parameter, hint: error.fields.hint };
  }
  throw new Error('accepted');
}

const count = z.int().meta({ description: 'How many.' });

describe('parameters that are no object', () => {
  it.each([
    ['{}', 'a string'],
    [5, '5'],
    [true, 'true'],
    [[], 'an array'],
  ])('%j are refused as %s', (raw, shown) => {
    expect(refuse({ count }, raw)).toEqual({
      detail: `The parameters must be a JSON object; ${shown} was given.`,
      parameter: undefined,
      hint: undefined,
    });
  });

  it('are like none where they are left out', () => {
    expect(validateInput(z.strictObject({ count: count.optional() }), undefined)).toEqual({});
  });
});

describe('the given value', () => {
  it.each([
    [true, 'true'],
    [[1], 'an array'],
    [{ a: 1 }, 'an object'],
    [1.5, '1.5'],
  ])('%j shows as %s', (given, shown) => {
    expect(refuse({ count }, { count: given }).detail).toBe(`count must be an integer; ${shown} was given.`);
  });

  it('shows its first 60 characters', () => {
    const text = z.literal('a');
    expect(refuse({ text }, { text: 'x'.repeat(60) }).detail).toContain(`"${'x'.repeat(60)}" was given`);
    expect(refuse({ text }, { text: 'x'.repeat(61) }).detail).toContain(`"${'x'.repeat(60)}…" was given`);
  });

  it('shows where it stands in objects and lists', () => {
    const inside = { list: z.array(z.strictObject({ name: z.string() })) };
    expect(refuse(inside, { list: [{ name: 'a' }, { name: 5 }] })).toMatchObject({
      detail: 'list[1].name must be a string; 5 was given.',
      parameter: 'list',
    });
    expect(refuse(inside, { list: [null] }).detail).toBe('list[0] must be a JSON object; null was given.');
    expect(refuse(inside, { list: [{}] }).detail).toBe('list[0].name is required.');
  });

  it('is not repeated where the parameter is sensitive', () => {
    const text = z.string().meta({ sensitive: true });
    expect(refuse({ text }, { text: 5 }).detail).toBe('text must be a string.');
  });
});

describe('the bound of', () => {
  it('a text counts characters', () => {
    const text = z.string().min(2).max(3);
    expect(refuse({ text }, { text: 'a' }).detail).toBe(
      'text must be at least 2 characters long; "a" was given.',
    );
    expect(refuse({ text }, { text: 'abcd' }).detail).toBe(
      'text must be at most 3 characters long; "abcd" was given.',
    );
  });

  it('a list counts items', () => {
    const list = z.array(z.int()).min(1).max(2);
    expect(refuse({ list }, { list: [] }).detail).toBe(
      'list must be at least 1 items long; an array was given.',
    );
    expect(refuse({ list }, { list: [1, 2, 3] }).detail).toBe(
      'list must be at most 2 items long; an array was given.',
    );
  });

  it('a number has no unit', () => {
    expect(refuse({ few: z.int().max(3) }, { few: 4 }).detail).toBe('few must be at most 3; 4 was given.');
  });
});

describe('the hint', () => {
  it('is the description of the parameter', () => {
    expect(refuse({ count }, {}).hint).toBe(HINT);
    expect(refuse({ count: count.max(3).meta({ description: 'How many.' }) }, { count: 4 }).hint).toBe(HINT);
    expect(refuse({ count: z.int() }, {}).hint).toBeUndefined();
  });

  it('asks for the type, where text was given instead', () => {
    expect(refuse({ count }, { count: '5' }).hint).toBe('Give an integer, not text.');
    expect(refuse({ list: z.array(z.int()) }, { list: '[5]' }).hint).toBe('Give a JSON array, not text.');
    expect(refuse({ count }, { count: true }).hint).toBe(HINT);
    const text = z.string().max(1).meta({ description: 'A letter.' });
    expect(refuse({ text }, { text: 'ab' }).hint).toBe('text: A letter.');
    expect(refuse({ text }, { text: 5 }).hint).toBe('text: A letter.');
  });

  it('of an unknown name lists all, and the nearest first', () => {
    expect(refuse({ count: count.optional() }, { cuont: 1 })).toEqual({
      detail: 'There is no parameter "cuont".',
      parameter: 'cuont',
      hint: 'Did you mean count? The parameters are count.',
    });
    expect(refuse({}, { a: 1 }).hint).toBe('It takes no parameters.');
  });

  it('of an unknown key is the description of the parameter around it', () => {
    const size = z.strictObject({ cpu: z.int().optional() });
    expect(refuse({ size: size.meta({ description: 'Sizes.' }) }, { size: { ram: 1 } })).toEqual({
      detail: 'size has an unknown key, "ram".',
      parameter: 'size.ram',
      hint: 'size: Sizes.',
    });
    expect(refuse({ size }, { size: { ram: 1 } }).hint).toBeUndefined();
  });
});

describe('several faults', () => {
  it('begin with unknown names', () => {
    const { detail, parameter } = refuse({ count }, { other: 1 });
    expect(detail).toBe('There is no parameter "other". count is required.');
    expect(parameter).toBe('other');
  });

  it('are five at most', () => {
    const shape = Object.fromEntries(['a', 'b', 'c', 'd', 'e', 'f'].map((name) => [name, z.int()]));
    expect(refuse(shape, {}).detail).toBe(
      'a is required. b is required. c is required. d is required. e is required.',
    );
  });

  it('of one list are shown as one', () => {
    expect(refuse({ list: z.array(z.int()) }, { list: ['x', 'y'] }).detail).toBe(
      'list[0] must be an integer; "x" was given.',
    );
  });
});

describe('entries of one parameter', () => {
  const entries = (length: number) =>
    Object.fromEntries(Array.from({ length }, (_, index) => [`key${index}`, 'x']));

  it('are 4,096 at most, and counted before anything else', () => {
    const map = z.record(z.string(), z.string());
    expect(validateInput(z.strictObject({ map }), { map: entries(4_096) })).toEqual({ map: entries(4_096) });
    expect(refuse({ map }, { map: entries(4_097) })).toMatchObject({
      detail: 'map has 4097 entries; no parameter has more than 4096.',
      parameter: 'map',
    });
    expect(refuse({ map }, { map: Array(4_097).fill('x') }).parameter).toBe('map');
    expect(refuse({ text: z.string() }, { unknown: null, text: entries(4_097) }).parameter).toBe('text');
  });
});
