/** What MCP lists of the catalogue: small enough for every turn of a model, and still all it needs. */
import { describe, expect, it } from 'vitest';
import { descriptions } from '../../../src/catalog/describe.ts';
import { tools } from '../../../src/catalog/index.ts';
import { inputJsonSchema, type JsonSchema, outputJsonSchema } from '../../../src/catalog/json-schema.ts';
import { listTools } from '../../../src/surfaces/mcp/server.ts';

/** All 46 tools of the contract together, which is what a client of the whole toolkit pays for. */
const LIST_BYTES = 40_000;
const CONTRACT_TOOLS = 46;
const BYTES_A_TOOL = 860;
const SHOWN = 12;

/** Of the six tools of the document database. */
const DOCUMENT_LIST_BYTES = 7_000;

const toolkit = tools.filter(({ name }) => name.startsWith('Sandbox.'));
const listed = listTools(toolkit);

describe('the list of tools', () => {
  it('[WIRE-MCP-07] fits its budget', () => {
    const sizes = listed.map((tool) => ({
      tool: tool.name,
      bytes: bytesOf(tool),
      description: bytesOf(tool.description),
      input: bytesOf(tool.inputSchema),
      output: bytesOf(tool.outputSchema),
    }));
    console.table(sizes.toSorted((a, b) => b.bytes - a.bytes).slice(0, SHOWN));
    const total = bytesOf(listed);
    console.info(`${listed.length} tools: ${total} bytes, ${Math.round(total / listed.length)} a tool`);
    expect(total).toBeLessThanOrEqual(LIST_BYTES);
    // Until all are there, so that those which are leave room for the others.
    if (listed.length < CONTRACT_TOOLS) expect(total / listed.length).toBeLessThanOrEqual(BYTES_A_TOOL);
  });

  it('[WIRE-MCP-07] of the document database fits its own', () => {
    const documents = listTools(tools.filter(({ name }) => name.startsWith('DocumentDb.')));
    expect(documents).toHaveLength(6);
    expect(bytesOf(documents)).toBeLessThanOrEqual(DOCUMENT_LIST_BYTES);
  });

  it.each(tools.map((tool) => [tool.name, tool] as const))('keeps what a call of %s needs', (_name, tool) => {
    const [entry] = listTools([tool]);
    const full = inputJsonSchema(tool);
    const input = entry?.inputSchema as JsonSchema;
    expect(input.required).toEqual(full.required);
    expect(Object.keys(input.properties ?? {})).toEqual(Object.keys(full.properties ?? {}));
    for (const [name, schema] of Object.entries(full.properties ?? {})) {
      const brief = input.properties?.[name] ?? {};
      expect(brief.type ?? brief.anyOf, name).toEqual(schema.type ?? schema.anyOf);
      expect(brief.enum, name).toEqual(schema.enum);
      expect(brief.minimum, name).toBe(schema.minimum);
      if (Number(schema.maximum) < 1_000_000) expect(brief.maximum, name).toBe(schema.maximum);
      if (typeof schema.default !== 'object') expect(brief.default, name).toBe(schema.default);
      expect(brief.description?.length, name).toBeGreaterThan(3);
      expect(brief.description, name).toMatch(/\.$/);
    }
  });

  it.each(tools.map((tool) => [tool.name, tool] as const))(
    '[WIRE-MCP-07] makes no false claim about the result of %s',
    (_name, tool) => {
      const output = listTools([tool])[0]?.outputSchema as JsonSchema;
      const full = outputJsonSchema(tool);
      const fields = Object.entries(output.properties ?? {});
      expect(fields.length).toBeGreaterThan(0);
      for (const [name, schema] of fields) {
        expect(full.properties, name).toHaveProperty(name);
        // Without a type, anything is admitted.
        if (schema.type !== undefined) expect(full.properties?.[name]?.type, name).toBe(schema.type);
      }
      // An error's structured content is { error }, and is checked against this as well.
      expect(output.required).toBeUndefined();
    },
  );

  it('leaves out of a result what the caller gave, and the type of what is text', () => {
    const fieldsOf = (name: string) =>
      listed.find((tool) => tool.name === name)?.outputSchema?.['properties'] as Record<string, JsonSchema>;
    expect(fieldsOf('Sandbox_WriteFile')).toEqual({
      bytes_written: { type: 'integer' },
      created: { type: 'boolean' },
    });
    expect(fieldsOf('Sandbox_RunCommand')).toEqual({
      output: {},
      stdout: {},
      stderr: {},
      exit_code: { type: 'integer' },
      timed_out: { type: 'boolean' },
      truncated: { type: 'boolean' },
    });
    // Unless nothing else would be left.
    expect(Object.keys(fieldsOf('Sandbox_MoveFile'))).toEqual(['source', 'destination']);
  });

  it('shows of a sandbox what the tool is about', () => {
    const fieldsOf = (name: string) =>
      Object.keys(listed.find((tool) => tool.name === name)?.outputSchema?.['properties'] ?? {});
    expect(fieldsOf('Sandbox_StartSandbox')).toEqual(['id', 'name', 'state']);
    expect(fieldsOf('Sandbox_ResizeSandbox')).toEqual(['id', 'name', 'state', 'resources']);
    expect(fieldsOf('Sandbox_GetSandbox')).toEqual([
      'id',
      'name',
      'state',
      'operation',
      'state_reason',
      'resources',
      'labels',
      'usage',
      'env_vars',
    ]);
  });

  it('repeats nothing: bounds and defaults are in the schema, and not in words', () => {
    const [create] = listTools(tools.filter(({ name }) => name === 'Sandbox.CreateSandbox'));
    const properties = create?.inputSchema.properties as Record<string, JsonSchema>;
    expect(properties['cpu']).toEqual({
      type: 'integer',
      description: 'vCPUs.',
      default: 2,
      minimum: 1,
      maximum: 16,
    });
    const full = descriptions.find(({ name }) => name === 'Sandbox.CreateSandbox')?.input_schema;
    expect(full?.properties?.['cpu']?.description).toBe('vCPUs (1-16, default 2).');
  });
});

function bytesOf(value: unknown): number {
  return Buffer.byteLength(JSON.stringify(value));
}
