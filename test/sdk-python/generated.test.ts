/** Python that is made of schemas and descriptions, and the client for threads that is made of the one for asyncio. */
import { describe, expect, it } from 'vitest';
import { z } from 'zod';
import { generatePython } from '../../sdk-python/generate/python.ts';
import { toSync } from '../../sdk-python/generate/sync.ts';
import { docstring, literal, snake } from '../../sdk-python/generate/text.ts';
import { PythonTypes } from '../../sdk-python/generate/types.ts';
import { defineTool } from '../../src/catalog/base/tool.ts';
import type { JsonSchema } from '../../src/catalog/json-schema.ts';

const plain = { readOnlyHint: true, destructiveHint: false, idempotentHint: true, openWorldHint: false };

/** A tool with these parameters. */
function tool(name: `Sandbox.${string}` | `Notes.${string}`, input: z.ZodObject, description = 'Does it.') {
  return defineTool({
    name: name as `Sandbox.${string}`,
    title: 'A tool',
    description,
    input,
    output: z.looseObject({ notes: z.array(z.string()), has_more: z.boolean() }),
    annotations: plain,
    handler: async () => ({ notes: [], has_more: false }),
  });
}

describe('types', () => {
  it.each<[JsonSchema, string]>([
    [{ type: 'integer' }, 'int'],
    [{ type: 'number' }, 'float'],
    [{ enum: ['a', 'it"s', 2, true] }, 'Literal["a", "it\\"s", 2, True]'],
    [{ anyOf: [{ type: 'string' }, { type: 'null' }] }, 'str | None'],
    [{ type: 'array', items: { anyOf: [{ type: 'string' }, { type: 'null' }] } }, 'list[str | None]'],
    [{ type: 'array' }, 'list[Any]'],
    [{ type: 'object', additionalProperties: { type: 'string' } }, 'dict[str, str]'],
    [{ type: 'object', additionalProperties: {} }, 'dict[str, Any]'],
    [{ type: 'object', properties: { a: { type: 'string' } }, required: ['a'] }, 'Made'],
    [{}, 'Any'],
  ])('of %j', (schema, type) => {
    expect(new PythonTypes().typeOf(schema, 'Made')).toBe(type);
  });

  it('of a record with optional fields are two classes', () => {
    const names = new PythonTypes();
    const fields = { a: { type: 'string' }, b: { type: 'boolean', description: 'Says "b".' } };
    names.declare('Made', { type: 'object', properties: fields, required: ['a'] });
    expect(names.declarations).toEqual([
      'class _MadeRequired(TypedDict):\n    a: str\n\n\n' +
        'class Made(_MadeRequired, total=False):\n    b: bool\n    """Says "b"."""',
    ]);
  });

  it('give one record one name, whatever is said about it', () => {
    const record = (description: string): JsonSchema => ({
      type: 'object',
      description,
      properties: { a: { type: 'string' }, b: { type: 'string' }, c: { type: 'string' } },
    });
    const names = new PythonTypes();
    names.declare('First', record('one'));
    names.declare('Second', record('another'));
    expect(names.declarations[1]).toBe('Second = First');
    expect(names.typeOf({ type: 'array', items: record('an item') }, 'Third')).toBe('list[First]');
  });
});

describe('texts', () => {
  it('of descriptions end no string, and hold no escapes', () => {
    expect(docstring('Ends """ and \\u0004 "', [], '    ')).toBe(
      '    """Ends \\"\\"\\" and \\\\u0004 \\""""',
    );
  });

  it.each([
    ['CreateSandbox', 'create_sandbox'],
    ['WhoAmI', 'who_am_i'],
    ['GetPortPreviewUrl', 'get_port_preview_url'],
    ['DocumentDb', 'document_db'],
  ])('of the name %s are %s', (name, python) => {
    expect(snake(name)).toBe(python);
  });

  it('of values are those of Python', () => {
    expect(literal({ a: [true, null, 'é"\n'], b: 1.5 })).toBe('{"a": [True, None, "é\\"\\n"], "b": 1.5}');
  });
});

describe('clients', () => {
  it('have a namespace for another toolkit, and iterate over its lists', () => {
    const input = z.strictObject({ offset: z.int().default(0).describe('How many to skip.') });
    const { async_client, client, facts } = generatePython([tool('Notes.ListNotes', input)]);
    expect(async_client).toContain('self.notes = AsyncNotes(connection)');
    expect(async_client).toContain('class AsyncNotes:');
    expect(async_client).toContain(') -> AsyncIterator[str]:');
    expect(async_client).toContain('self._client.notes.list_notes(');
    expect(client).toContain('class Notes:');
    expect(client).not.toMatch(/\basync\b(?! with)|\bawait\b|\bAsync[A-Z]/);
    expect(facts).toContain(
      'list_notes = ToolFacts("Notes.ListNotes", repeatable=True, long=False, idempotency_key=False)',
    );
  });

  it('name other tools as Python does', () => {
    const tools = [
      tool('Sandbox.GetOne', z.strictObject({}), 'Call GetTwo, not GetTwoMore.'),
      tool('Sandbox.GetTwo', z.strictObject({})),
    ];
    expect(generatePython(tools).client).toContain('Call get_two, not GetTwoMore.');
  });

  it.each(['from', 'lambda', 'max_retries', 'call_timeout_seconds', 'Upper'])(
    'refuse a parameter that is called %s',
    (name) => {
      const broken = tool('Sandbox.GetOne', z.strictObject({ [name]: z.string() }));
      expect(() => generatePython([broken])).toThrow(name);
    },
  );

  it('for threads are the same words without those of asyncio', () => {
    const text = `"""One."""

from collections.abc import AsyncGenerator, Awaitable, Callable
from .._async.files import AsyncFiles

async def all(files: AsyncFiles, fetch: Callable[[int], Awaitable[types.Page]]) -> AsyncGenerator[int, None]:
    async with aclosing(walk(files)) as walk:
        async for one in walk:
            yield await fetch(one)
`;
    expect(toSync(text, '_async/all.py')).toBe(`"""One."""
# Made from _async/all.py.

from collections.abc import Callable, Generator
from .._sync.files import Files

def all(files: Files, fetch: Callable[[int], types.Page]) -> Generator[int, None, None]:
    with closing(walk(files)) as walk:
        for one in walk:
            yield fetch(one)
`);
  });
});
