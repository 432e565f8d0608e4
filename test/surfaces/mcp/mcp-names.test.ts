/** Over MCP, words of the service name tools as MCP's list does; what the caller wrote stays as it is. */
import { describe, expect, it } from 'vitest';
import { findTool, mcpName } from '../../../src/catalog/call.ts';
import { tools } from '../../../src/catalog/index.ts';
import { SandhavenError, toProblem } from '../../../src/model/errors.ts';
import { toCallToolResult } from '../../../src/surfaces/mcp/result.ts';
import { instructions, listTools } from '../../../src/surfaces/mcp/server.ts';
import { processorMsOf } from '../../support/processor-time.ts';

const called = findTool('DocumentDb.CountDocuments');
const bare = (name: string) => name.slice(name.indexOf('.') + 1);
const problemOf = (detail: string, hint: string) =>
  toProblem(new SandhavenError('invalid_state', detail, { hint }), 'req_1');

describe('names of tools over MCP', () => {
  it.each(tools.map((tool) => [tool.name, mcpName(tool)]))('a problem names %s as %s', (name, listed) => {
    const problem = problemOf(
      `Sandbox 'demo' is started; ${bare(name)} needs it stopped.`,
      `Call ${name} first.`,
    );
    const result = toCallToolResult(called, { problem });
    const { error } = result.structuredContent as { error: Record<string, unknown> };
    expect(error).toMatchObject({
      detail: `Sandbox 'demo' is started; ${listed} needs it stopped.`,
      hint: `Call ${listed} first.`,
      request_id: 'req_1',
    });
    expect(result.content).toEqual([{ type: 'text', text: JSON.stringify(error) }]);
  });

  it.each([
    "There is no file 'ReadFile'.",
    "There is no file 'notes on Sandbox.ReadFile'.",
    'There is no file src/ReadFile or ReadFile.ts.',
    'Give {"collection_name":"RunCode"}.',
    'See `sandhaven call Sandbox.RunCode`.',
    "The sandbox's GitStatuses and MyGitStatus.",
  ])('leaves alone what is no mention of a tool: %s', (text) => {
    const { structuredContent } = toCallToolResult(called, { problem: problemOf(text, text) });
    expect(structuredContent).toMatchObject({ error: { detail: text, hint: text } });
  });

  it('holds for the notes of a result, in its text too, and leaves its data alone', () => {
    const run = findTool('Sandbox.RunCommand');
    const notes = ['Nothing matches; see DocumentDb.GetCollectionSchema.'];
    const counted = toCallToolResult(called, { result: { result: 0, notes } });
    expect(counted.structuredContent).toEqual({
      result: 0,
      notes: ['Nothing matches; see DocumentDb_GetCollectionSchema.'],
    });
    expect(JSON.stringify(counted.content)).toContain('see DocumentDb_GetCollectionSchema.');

    const output = 'Sandbox.RunCommand and RunCode\n';
    const result = {
      output,
      stdout: output,
      stderr: '',
      exit_code: 0,
      timed_out: false,
      truncated: false,
      duration_ms: 1,
    };
    const ran = toCallToolResult(run, { result });
    expect(ran.structuredContent).toEqual(result);
    expect(JSON.stringify(ran.content)).toContain('Sandbox.RunCommand and RunCode');
  });

  it('holds for all that a model reads before it calls', () => {
    const words = JSON.stringify([instructions, listTools(tools)]);
    const names = tools.map(({ name }) => bare(name)).join('|');
    expect(
      words.match(new RegExp(String.raw`(?<![\w])(?:Sandbox\.|DocumentDb\.)?(?:${names})(?!\w)`, 'g')),
    ).toBeNull();
    expect(words).toContain('Sandbox_StopSandbox first');
  });

  it('holds in a long text without a pause that others would notice', () => {
    const text = `${`'"\`RunCode ' " `.repeat(100_000)}`;
    const problem = problemOf(text, text);
    expect(processorMsOf(() => toCallToolResult(called, { problem }))).toBeLessThan(1_000);
  });
});
