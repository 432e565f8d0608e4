/**
 * Many clients show their model the text of a result alone: it says of every field what the description promises. A
 * tool without a text of its own gets its result as JSON, which says all.
 */
import { describe, expect, it } from 'vitest';
import type { Tool } from '../../src/catalog/base/tool.ts';
import { findTool } from '../../src/catalog/call.ts';
import { tools } from '../../src/catalog/index.ts';
import { type JsonSchema, outputJsonSchema } from '../../src/catalog/json-schema.ts';
import { toCallToolResult } from '../../src/surfaces/mcp/result.ts';
import { listTools } from '../../src/surfaces/mcp/server.ts';
import { documentSamples } from './text/documents.ts';
import { executionSamples } from './text/execution.ts';
import { fileSamples } from './text/files.ts';
import { gitSamples } from './text/git.ts';
import { ELSEWHERE, type Sample, type Samples } from './text/sample.ts';
import { sandboxSamples } from './text/sandboxes.ts';
import { sessionSamples } from './text/sessions.ts';
import { snapshotSamples } from './text/snapshots.ts';

const samples: Samples = {
  ...sandboxSamples,
  ...snapshotSamples,
  ...executionSamples,
  ...sessionSamples,
  ...gitSamples,
  ...fileSamples,
  ...documentSamples,
};

const withText = tools.filter(({ text }) => text !== undefined);

/** What MCP lists, and what the description calls by its name, of the result and of the records in it. */
function promised(tool: Tool): string[] {
  const listed = Object.keys(listTools([tool])[0]?.outputSchema?.['properties'] ?? {});
  const named = fieldsOf(outputJsonSchema(tool)).filter((field) =>
    new RegExp(String.raw`(?<![\w.])${field}(?!\w)`).test(tool.description),
  );
  return [...new Set([...listed, ...named])];
}

function fieldsOf({ properties = {}, items }: JsonSchema): string[] {
  const below = [...Object.values(properties), ...(items ? [items] : [])];
  return [...Object.keys(properties), ...below.flatMap(fieldsOf)];
}

function textOf(tool: Tool, { result }: Sample): string {
  const [first] = toCallToolResult(tool, { result }).content;
  return first?.type === 'text' ? first.text : '';
}

describe('the text of a result', () => {
  it('has samples of every tool that writes its own', () => {
    const known = new Set(Object.keys(samples));
    expect(withText.map(({ name }) => name).filter((name) => !known.has(name))).toEqual([]);
    expect([...known].filter((name) => findTool(name).text === undefined)).toEqual([]);
  });

  describe.each(Object.entries(samples))('of %s', (name, own) => {
    const tool = findTool(name);

    it('shows every field that the description and the list promise', () => {
      const said = new Set(own.flatMap(({ says }) => Object.keys(says)));
      expect(promised(tool).filter((field) => !said.has(field))).toEqual([]);
    });

    it.each(own.map((sample, at) => [at + 1, sample] as const))(
      'shows its fields in result %i',
      (_at, sample) => {
        expect(tool.output.safeParse(sample.result).error).toBeUndefined();
        const text = textOf(tool, sample);
        for (const [field, expected] of Object.entries(sample.says)) {
          if (expected === ELSEWHERE) expect(tool.description).toContain('structuredContent');
          else if (typeof expected === 'string') expect(text, field).toContain(expected);
          else expect(text, field).toMatch(expected);
        }
        // What a tool is called depends on the transport.
        expect(text).not.toMatch(/\b(?:Sandbox|DocumentDb)[._][A-Z]/);
      },
    );
  });

  it.each([
    [
      'Sandbox.CreateSshAccess',
      {
        ...{ host: '127.0.0.1', port: 7422, username: 'sb_1', access_token: 'abc', expires_at: null },
        ...{ host_key: 'ssh-ed25519 AAAA1', command: 'ssh -p 7422 abc@127.0.0.1' },
      },
    ],
    [
      'Sandbox.GetPortPreviewUrl',
      {
        ...{ url: 'http://80-a.localhost:1/', port: 80, signed: false, expires_at: null },
        ...{ token: 'abc', header: 'x-sandbox-preview-token' },
      },
    ],
    [
      'Sandbox.ListPorts',
      { ports: [{ port: 80, state: 'listening', name: 'nginx', pid: 7, command: 'nginx: master\n' }] },
    ],
  ])('of %s has every field in it, the host key and the process too', (name, result) => {
    const tool = findTool(name);
    expect(tool.output.safeParse(result).error).toBeUndefined();
    const text = textOf(tool, { result, says: {} });
    expect(JSON.parse(text)).toEqual(result);
    for (const field of promised(tool)) expect(text).toContain(`"${field}":`);
  });

  it('of a tool without one of its own is the whole result', () => {
    const result = { user_id: 'user_1', name: 'Ada', email: 'ada@example.org' };
    expect(textOf(findTool('Sandbox.WhoAmI'), { result, says: {} })).toBe(JSON.stringify(result));
  });
});
