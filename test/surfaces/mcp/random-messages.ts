/** Random messages of MCP clients: mostly calls of tools, mostly well-formed, with any of the faults that the protocol names. */
import fc, { type Arbitrary } from 'fast-check';
import { MODERN } from './mcp-host.ts';

export interface Message {
  headers: Record<string, string>;
  body: string;
}

/** Stands for what is left out. */
const NONE = Symbol();
type Odd = unknown;

/** Mostly the usual value. */
function mostly(usual: Odd, ...odd: Odd[]): Arbitrary<Odd> {
  return fc.oneof({ weight: 12, arbitrary: fc.constant(usual) }, fc.constantFrom(...odd));
}

const envelope = {
  'io.modelcontextprotocol/protocolVersion': MODERN,
  'io.modelcontextprotocol/clientInfo': { name: 'test', version: '1' },
  'io.modelcontextprotocol/clientCapabilities': {},
};

const calls = fc.constantFrom<[string, unknown]>(
  ['Sandbox_RunCommand', { command: 'ls' }],
  ['Sandbox.RunCommand', { command: 'é\u2028"\\ud800' }],
  ['Sandbox_RunCommand', { command: 'ls', shell: 'zsh' }],
  ['Sandbox_RunCommand', {}],
  ['Sandbox_RunCommand', JSON.parse('{"command":"ls","__proto__":{"x":1}}')],
  ['Sandbox_WhoAmI', {}],
  ['Sandbox_WhoAmI', NONE],
  ['Sandbox_WhoAmI', null],
  ['Sandbox_WhoAmI', []],
  ['Sandbox_GetSandbox', { sandbox: 'gone' }],
  ['Sandbox_ReadFile', { path: 'big.txt' }],
  ['Sandbox_RunCode', { code: 'plot()' }],
  ['Sandbox_RunCode', { code: 'defect' }],
  ['Sandbox_CreateSandbox', { name: 'demo' }],
  ['Sandbox_CreateSandbx', {}],
);

const metas = fc.oneof(
  { weight: 4, arbitrary: fc.constant({}) },
  fc.constantFrom<Record<string, unknown>>(
    { progressToken: 7 },
    { progressToken: 'a' },
    { progressToken: 1.5 },
    { progressToken: null },
    { 'example.org/trace': { x: [1] }, progressToken: '' },
    { 'io.modelcontextprotocol/related-task': { taskId: 'x' } },
    { 'io.modelcontextprotocol/related-task': 1 },
    { 'io.modelcontextprotocol/logLevel': 'info' },
    { 'io.modelcontextprotocol/protocolVersion': '2025-11-25' },
    { 'io.modelcontextprotocol/clientInfo': { name: 'test' } },
  ),
);

export const messages: Arbitrary<Message> = fc
  .record({
    modern: fc.boolean(),
    call: calls,
    meta: metas,
    bareMeta: mostly(NONE, null, 'x', []),
    method: mostly('tools/call', 'tools/list', 'ping', 'initialize', 'nothing/here', 'resources/list', 7),
    id: mostly(1, 'a', '', -1, 0, 1.5, null, NONE, 2 ** 53, true),
    jsonrpc: mostly('2.0', '1.0', NONE),
    more: mostly({}, { extra: 1 }, { result: {} }),
    moreParams: mostly({}, { task: { ttl: 1 } }, { requestState: 'x' }, { inputResponses: {} }, { extra: 1 }),
    params: mostly('object', 'list', 'none'),
    shape: mostly('one', 'batch', 'two', 'empty', 'broken', 'nothing'),
    accept: mostly(
      'application/json, text/event-stream',
      'application/json',
      'text/event-stream',
      '*/*',
      NONE,
    ),
    type: mostly(
      'application/json',
      'application/json; charset=utf-8',
      'APPLICATION/JSON',
      'text/plain',
      NONE,
    ),
    version: mostly('usual', '2025-03-26', '2024-11-05', '1999-01-01', MODERN, '', NONE),
    methodHeader: mostly('usual', 'tools/list', NONE),
    nameHeader: mostly(
      'usual',
      'Sandbox_StopSandbox',
      '=?base64?U2FuZGJveF9XaG9BbUk=?=',
      '=?base64?!?=',
      NONE,
    ),
  })
  .map((parts) => {
    const [name, args] = parts.call;
    const _meta = { ...(parts.modern ? envelope : {}), ...parts.meta };
    const meta = Object.keys(_meta).length > 0 ? { _meta } : {};
    const bare = parts.bareMeta === NONE ? meta : { _meta: parts.bareMeta };
    const object = given({ name, arguments: args, ...bare, ...(parts.moreParams as object) });
    const params = parts.params === 'object' ? object : parts.params === 'list' ? [name] : NONE;
    const { jsonrpc, id, method, more } = parts;
    const message = given({ jsonrpc, id, method, params, ...(more as object) });
    const usual = (value: Odd, own: Odd) => (value === 'usual' ? own : value);
    const headers = given({
      accept: parts.accept,
      'content-type': parts.type,
      'mcp-protocol-version': usual(parts.version, parts.modern ? MODERN : '2025-11-25'),
      'mcp-method': usual(parts.methodHeader, parts.modern ? method : NONE),
      'mcp-name': usual(parts.nameHeader, parts.modern ? name : NONE),
    });
    return { headers: headers as Message['headers'], body: bodyOf(parts.shape, message) };
  });

function bodyOf(shape: Odd, message: object): string {
  if (shape === 'batch') return JSON.stringify([message]);
  if (shape === 'two') return JSON.stringify([message, { ...message, id: 'second' }]);
  if (shape === 'empty') return '[]';
  if (shape === 'nothing') return '';
  return shape === 'broken' ? JSON.stringify(message).slice(0, -1) : JSON.stringify(message);
}

function given(fields: Record<string, unknown>): object {
  return Object.fromEntries(Object.entries(fields).filter(([, value]) => value !== NONE));
}
