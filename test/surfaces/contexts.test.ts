/** Contexts as callers use them: the tool in its toolset, its events, the actions, the command line. */
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { findTool, scopeOf } from '../../src/catalog/call.ts';
import { describeTool } from '../../src/catalog/describe.ts';
import { tools } from '../../src/catalog/index.ts';
import { selectTools } from '../../src/catalog/toolsets.ts';
import { toCallToolResult } from '../../src/surfaces/mcp/result.ts';
import { cliFor } from './cli/cli-harness.ts';
import { API_KEY } from './fakes/fake-services.ts';
import { type Harness, startHttp } from './http/http-harness.ts';

let http: Harness;
let cli: ReturnType<typeof cliFor>;

beforeEach(async () => {
  http = await startHttp();
  cli = cliFor(http.url);
  expect((await http.call('Sandbox.CreateSandbox', { name: 'box' })).status).toBe(200);
});

afterEach(() => http.close());

async function act(action: string, parameters: object) {
  const response = await fetch(`${http.url}/v1/admin/${action}`, {
    method: 'POST',
    headers: { authorization: `Bearer ${API_KEY}`, 'content-type': 'application/json' },
    body: JSON.stringify({ sandbox: 'box', ...parameters }),
  });
  return { status: response.status, body: (await response.json()) as Record<string, unknown> };
}

const run = async (code: string, more: object = {}) => {
  const response = await http.call('Sandbox.RunInContext', { sandbox: 'box', code, ...more });
  return { status: response.status, body: (await response.json()) as Record<string, unknown> };
};

describe('the toolset contexts', () => {
  it('is off unless it is asked for, beside others or alone', () => {
    const names = (text?: string) => selectTools(text, 'toolsets').map(({ name }) => name);
    expect(names()).not.toContain('Sandbox.RunInContext');
    expect(names('all')).toHaveLength(52);
    expect(names('contexts')).toEqual(['Sandbox.RunInContext']);
    expect(names('contexts,all')).toEqual([...tools.map(({ name }) => name), 'Sandbox.RunInContext']);
    expect(names('execution,contexts')).toEqual([
      ...['Sandbox.RunCode', 'Sandbox.RunCommand', 'Sandbox.RunInContext'],
    ]);
    expect(() => findTool('Sandbox_RunInContext', tools)).toThrow(/not among the tools of this connection/);
  });

  it('fits its budget of words, and needs the right to change', () => {
    const tool = findTool('Sandbox.RunInContext');
    expect(scopeOf(tool)).toBe('sandboxes:write');
    expect(JSON.stringify(describeTool(tool).input_schema).length).toBeLessThan(1_600);
    expect(tool.description.length).toBeLessThan(420);
  });
});

describe('RunInContext', () => {
  it('returns output, results, errors and the context', async () => {
    expect(await run('print hello')).toMatchObject({
      status: 200,
      body: { output: 'hello\n', context: 'python', run: 1, results: [], error: null, ended: null },
    });
    expect((await run('show 5', { context: 'a', language: 'bash' })).body).toMatchObject({
      context: 'a',
      results: [{ type: 'result', data: { 'text/plain': '5', 'image/png': 'iVBORw0KGgo=' } }],
    });
    expect((await run('raise no')).body['error']).toMatchObject({ name: 'ValueError', value: 'no' });
  });

  it('streams output and what is displayed, each as an event', async () => {
    const response = await http.fetch('/v1/tools/Sandbox.RunInContext', {
      method: 'POST',
      headers: { 'content-type': 'application/json', accept: 'text/event-stream' },
      body: JSON.stringify({ sandbox: 'box', code: 'show 5' }),
    });
    const events = (await response.text()).match(/^event: \w+/gm);
    expect(events).toEqual(['event: display', 'event: result']);
  });

  it.each([
    [{ context: '1a' }, 'context'],
    [{ context: 'x'.repeat(65) }, 'context'],
    [{ language: 'ruby' }, 'language'],
    [{ memory_mb: 63 }, 'memory_mb'],
    [{ timeout_seconds: 601 }, 'timeout_seconds'],
    [{ code: 'a\0b' }, 'code'],
  ])('refuses %o', async (given, parameter) => {
    expect(await run('x', given)).toMatchObject({
      status: 400,
      body: { code: 'invalid_argument', parameter },
    });
  });

  it('shows models text and pictures', async () => {
    const tool = findTool('Sandbox.RunInContext');
    const shown = toCallToolResult(tool, { result: (await run('show 5')).body });
    expect(shown.content).toEqual([
      { type: 'text', text: '(no output)\n5\n[5 ms]' },
      { type: 'image', data: 'iVBORw0KGgo=', mimeType: 'image/png' },
    ]);
    const failed = toCallToolResult(tool, { result: (await run('raise no')).body });
    expect(failed.content[0]).toMatchObject({
      text: '(no output)\nValueError: no\n\n[ValueError: no, 5 ms]',
    });
  });
});

describe('actions on contexts', () => {
  it('create, list, interrupt, restart and delete', async () => {
    expect((await act('CreateContext', { language: 'bash', cwd: 'src' })).body).toMatchObject({
      ...{ context: 'context_1', language: 'bash', runs: 0, busy: false, ended: null },
      created_at: '2023-11-14T22:13:20.123Z',
    });
    const { contexts } = (await act('ListContexts', {})).body;
    expect(contexts).toMatchObject([{ context: 'python', busy: true }, { ended: 'SIGKILL ended it.' }]);
    expect((await act('InterruptContext', { context: 'a' })).body).toEqual({
      context: 'a',
      interrupted: true,
    });
    expect((await act('RestartContext', { context: 'a' })).body).toMatchObject({ context: 'a', runs: 0 });
    expect((await act('DeleteContext', { context: 'a' })).body).toEqual({ context: 'a', deleted: true });
    expect(await act('DeleteContext', { context: 'nope' })).toMatchObject({ status: 404 });
  });
});

describe('sandhaven', () => {
  it('contexts list shows them as a table', async () => {
    const { code, stdout } = await cli(['contexts', 'list', 'box']);
    expect([code, stdout]).toEqual([0, expect.stringMatching(/python +python +busy +3/)]);
  });

  it('repl runs what comes on standard input, and prints output, results and errors in their order', async () => {
    const piped = await cli(['repl', 'box'], { stdin: 'show 5' });
    expect([piped.code, piped.stdout]).toEqual([0, '5\n']);
    const failed = await cli(['repl', 'box', '--language', 'python'], { stdin: 'raise no' });
    expect([failed.code, failed.stderr]).toEqual([1, 'ValueError: no\n']);
  });
});
