/** What is made from the catalogue is what the catalogue would make now. */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { exampleOf } from '../../docs/generate/examples.ts';
import { generated } from '../../setup/generate.ts';
import { tools } from '../../src/catalog/index.ts';
import { inputJsonSchema, type JsonSchema } from '../../src/catalog/json-schema.ts';
import { validateInput } from '../../src/catalog/validate.ts';
import { TypeNames } from '../generate/types.ts';
import { Sandhaven } from '../src/index.ts';

const root = join(import.meta.dirname, '..', '..');

describe('generated code', () => {
  it.each(Object.entries(generated))(
    '[WIRE-SDK-01, WIRE-CATALOG-01] %s is up to date (else: make generate)',
    (file, generate) => {
      // Compared as a truth value: a difference of a thousand lines tells nobody anything.
      expect(
        readFileSync(join(root, file), 'utf8') === generate(),
        `${file} is stale; run make generate`,
      ).toBe(true);
    },
  );

  it.each(tools.map((tool) => [tool.name, tool] as const))(
    '[WIRE-CATALOG-01] %s is in the SDK and in the reference',
    (name, tool) => {
      const [toolkit, short = ''] = name.split('.');
      const client = new Sandhaven({ apiKey: 'k' }) as unknown as Record<string, unknown>;
      const owner = toolkit === 'Sandbox' ? client : (client['documentDb'] as Record<string, unknown>);
      expect(owner[short.charAt(0).toLowerCase() + short.slice(1)]).toBeTypeOf('function');
      const reference = readFileSync(join(root, 'docs', 'tools.md'), 'utf8');
      const section = reference.split(`### ${name}\n`)[1]?.split('\n### ')[0] ?? '';
      expect(section).toContain(tool.description);
      for (const field of [...Object.keys(tool.input.shape), ...Object.keys(tool.output.shape)]) {
        expect(section).toContain(`\`${field}\``);
      }
    },
  );

  it.each(tools.map((tool) => [tool.name, tool] as const))(
    'the example of %s is a valid call',
    (name, tool) => {
      const example = exampleOf(name.split('.')[1] ?? '', inputJsonSchema(tool));
      expect(() => validateInput(tool.input, example)).not.toThrow();
    },
  );
});

describe('types from schemas', () => {
  const typeOf = (schema: JsonSchema) => new TypeNames().typeOf(schema, '');

  it.each<[JsonSchema, string]>([
    [{ type: 'integer' }, 'number'],
    [{ enum: ['a', "it's", 2] }, "'a' | 'it\\'s' | 2"],
    [{ anyOf: [{ type: 'string' }, { type: 'null' }] }, 'string | null'],
    [{ type: 'array', items: { anyOf: [{ type: 'string' }, { type: 'null' }] } }, '(string | null)[]'],
    [{ type: 'array', items: { enum: ['a', 'b'] } }, "('a' | 'b')[]"],
    [{ type: 'array' }, 'unknown[]'],
    [{ type: 'object', additionalProperties: { type: 'string' } }, 'Record<string, string>'],
    [{ type: 'object', additionalProperties: {} }, 'Record<string, unknown>'],
    [{ type: 'object', properties: { a: { type: 'string' } }, required: ['a'] }, '{\n  a: string;\n}'],
    [{ type: 'object', properties: { 'a-b': { type: 'boolean' } } }, "{\n  'a-b'?: boolean;\n}"],
    [{}, 'unknown'],
  ])('of %j', (schema, type) => {
    expect(typeOf(schema)).toBe(type);
  });

  it('gives one record one name, whatever is said about it', () => {
    const record = (description: string): JsonSchema => ({
      type: 'object',
      description,
      properties: { a: { type: 'string' }, b: { type: 'string' }, c: { type: 'string' } },
    });
    const names = new TypeNames();
    names.declare('First', record('one'));
    expect(names.declare('Second', record('another'))).toBe('export type Second = First;');
    expect(names.typeOf({ type: 'array', items: record('an item') }, '')).toBe('First[]');
  });
});
