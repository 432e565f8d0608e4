/** The bridge's own errors: each says what to do, on standard error, and nothing but messages goes to standard output. */
import { readFileSync } from 'node:fs';
import { chmod, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { createServer, type RequestListener, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { type StartedBridge, startBridge } from './started-bridge.ts';

const manifest = JSON.parse(readFileSync(new URL('../../package.json', import.meta.url), 'utf8'));
const KEY = 'shv_0123456789abcdefghij';
const initialize = {
  jsonrpc: '2.0',
  id: 1,
  method: 'initialize',
  params: { protocolVersion: '2025-11-25', capabilities: {}, clientInfo: { name: 'test', version: '1' } },
};

let servers: Server[];
let bridges: StartedBridge[];
let folder: string;

beforeEach(async () => {
  servers = [];
  bridges = [];
  folder = await mkdtemp(join(tmpdir(), 'sandhaven-bridge-'));
});

afterEach(async () => {
  for (const { child } of bridges) child.kill('SIGKILL');
  for (const server of servers) {
    server.closeAllConnections();
    server.close();
  }
  await rm(folder, { recursive: true });
});

function start(args: string[], env: Record<string, string> = {}): StartedBridge {
  const bridge = startBridge(args, env);
  bridges.push(bridge);
  return bridge;
}

async function serve(listener: RequestListener): Promise<string> {
  const server = createServer(listener);
  servers.push(server);
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
}

describe('the start of the bridge', () => {
  const url = 'http://127.0.0.1:9';

  it.each([
    ['no address', [], { SANDBOX_API_KEY: KEY }, 2, /There is no address .* Set SANDBOX_API_URL/],
    ['what is no address', ['--url', 'here'], { SANDBOX_API_KEY: KEY }, 2, /not the address of a service/],
    ['a key in the address', ['--url', `http://${KEY}@h`], {}, 2, /without a key/],
    ['no key', ['--url', url], {}, 3, /There is no API key\. Set SANDBOX_API_KEY, or name a file/],
    ['a key of two lines', ['--url', url], { SANDBOX_API_KEY: `${KEY}\na: b` }, 3, /characters that no key/],
    ['a missing file', ['--url', url, '--api-key-file', '/nowhere'], {}, 3, /cannot be read: ENOENT/],
    ['an endless file', ['--url', url, '--api-key-file', '/dev/zero'], {}, 3, /more than 1024 bytes/],
    [
      'a key as a flag',
      ['--url', url, '--api-key', KEY],
      {},
      2,
      /can be read by every user .* SANDBOX_API_KEY/,
    ],
    ['a key as a flag with =', ['--url', url, `--api-key=${KEY}`], {}, 2, /can be read by every user/],
    [
      'an unknown flag',
      ['--team-name', 'red'],
      {},
      2,
      /Unknown option '--team-name'\. See sandhaven-mcp --help/,
    ],
    ['a team that no header carries', ['--url', url, '--team', 'a\nb'], {}, 2, /neither a name nor an id/],
  ] as const)('with %s fails', async (_what, args, env, status, message) => {
    const bridge = start([...args], { ...env });
    expect(await bridge.exited).toBe(status);
    expect(bridge.stderr()).toMatch(message);
    expect(bridge.stderr()).not.toContain(KEY);
    expect(bridge.stderr().trimEnd().split('\n')).toHaveLength(1);
    expect(bridge.lines()).toEqual([]);
  });

  it('shows its help and its version', async () => {
    const help = start(['--help']);
    expect(await help.exited).toBe(0);
    expect(help.lines()[0]).toMatch(/^Usage: sandhaven-mcp /);
    const version = start(['--version']);
    expect(await version.exited).toBe(0);
    expect(version.lines()).toEqual([manifest.version]);
  });

  it.each(['SIGTERM', 'SIGINT', 'end of input'])('is followed by an end at %s', async (how) => {
    const bridge = start(['--url', url], { SANDBOX_API_KEY: KEY });
    // Its answer shows that it reads.
    bridge.child.stdin.write('nothing\n');
    await expect.poll(() => bridge.lines()).toHaveLength(1);
    if (how === 'end of input') bridge.child.stdin.end();
    else bridge.child.kill(how as NodeJS.Signals);
    expect(await bridge.exited).toBe(0);
  });
});

describe('the first message', () => {
  it('ends the bridge where nobody listens, with an answer', async () => {
    const gone = await serve(() => {});
    await new Promise((resolve) => servers.pop()?.close(resolve));
    const bridge = start(['--url', gone], { SANDBOX_API_KEY: KEY });
    bridge.send(initialize);
    expect(await bridge.exited).toBe(7);
    expect(bridge.stderr()).toMatch(
      /^sandhaven-mcp: The service at http:\/\/\S+ cannot be reached: connect ECONNREFUSED /,
    );
    expect(bridge.stderr()).toContain('SANDBOX_API_URL');
    expect(bridge.lines().map((line) => JSON.parse(line))).toMatchObject([
      { jsonrpc: '2.0', id: 1, error: { code: -32000, data: { code: 'unavailable', retryable: true } } },
    ]);
  });

  it('ends it where the key is not taken, and shows the key to nobody', async () => {
    const service = await serve((request, response) => {
      const detail = `No such key: ${request.headers.authorization}\u001b[31m\nshv`;
      response.writeHead(401, { 'content-type': 'application/problem+json' });
      response.end(JSON.stringify({ code: 'unauthenticated', detail }));
    });
    const bridge = start(['--url', service], { SANDBOX_API_KEY: KEY });
    bridge.send(initialize);
    expect(await bridge.exited).toBe(3);
    const line = 'sandhaven-mcp: No such key: Bearer [key] [31m shv Check SANDBOX_API_KEY';
    expect(bridge.stderr()).toContain(line);
    expect(bridge.lines().join()).not.toContain(KEY);
  });

  it.each([
    ['a page', 200, 'text/html', '<html>', 7, 'sent what is no message of MCP'],
    ['another site', 404, 'text/html', 'no', 7, 'There is no MCP at'],
    ['a proxy without a service', 502, 'text/html', 'no', 7, 'answers with status 502'],
    ['a port that speaks TLS', 400, 'text/plain', 'This port speaks TLS.\n', 2, 'This port speaks TLS.'],
  ])('ends it at %s', async (_what, status, type, body, exit, message) => {
    const service = await serve((_request, response) => {
      response.writeHead(status, { 'content-type': type }).end(body);
    });
    const bridge = start(['--url', service], { SANDBOX_API_KEY: KEY });
    bridge.send(initialize);
    expect(await bridge.exited).toBe(exit);
    expect(bridge.stderr()).toContain(message);
  });

  it('takes the key to no other address', async () => {
    const asked: string[] = [];
    const other = await serve((request, response) => {
      asked.push(request.url ?? '');
      response.end();
    });
    const service = await serve((_request, response) => {
      response.writeHead(307, { location: `${other}/mcp` }).end();
    });
    const bridge = start(['--url', service], { SANDBOX_API_KEY: KEY });
    bridge.send(initialize);
    expect(await bridge.exited).toBe(7);
    expect(bridge.stderr()).toContain(`redirects to ${other}/mcp. The key goes to no other address`);
    expect(asked).toEqual([]);
  });

  it('carries key, team and toolsets, with the key of a file', async () => {
    const seen: unknown[] = [];
    const service = await serve(({ url, headers }, response) => {
      seen.push({ url, authorization: headers.authorization, team: headers['sandhaven-team'] });
      response.writeHead(200, { 'content-type': 'application/json' });
      response.end('{"jsonrpc":"2.0",\n"id":1,\r\n"result":{"protocolVersion":"2025-11-25"}}');
    });
    const file = join(folder, 'key');
    await writeFile(file, `${KEY}\n`);
    await chmod(file, 0o600);
    const args = [
      '--url',
      `${service}/mcp/`,
      '--api-key-file',
      file,
      '--toolsets',
      'files,git',
      '--team',
      'red',
    ];
    // A flag goes before the environment.
    const bridge = start(args, { SANDBOX_API_KEY: 'shv_other' });
    bridge.send(initialize);
    await expect.poll(() => bridge.lines()).toHaveLength(1);
    expect(seen).toEqual([{ url: '/mcp?toolsets=files%2Cgit', authorization: `Bearer ${KEY}`, team: 'red' }]);
    expect(JSON.parse(bridge.lines()[0] ?? '')).toEqual({
      jsonrpc: '2.0',
      id: 1,
      result: { protocolVersion: '2025-11-25' },
    });
  });

  it.each([
    ['the pair before its aliases', { SANDBOX_API_URL: 'a', SANDHAVEN_URL: 'b' }, 'a pair'],
    ['the aliases alone', { SANDHAVEN_URL: 'b', SANDBOX_API_KEY: '' }, 'b alias'],
    ['an alias for the address alone', { SANDHAVEN_URL: 'b', SANDHAVEN_API_KEY: '' }, 'b pair'],
    // A key that is meant for another service goes to none that an alias names beside a key of its own.
    ['the aliases beside a key of the pair', { SANDHAVEN_URL: 'b' }, 'b alias'],
    [
      'an address of the pair beside a key of the alias',
      { SANDBOX_API_URL: 'a', SANDBOX_API_KEY: '' },
      'a alias',
    ],
  ] as const)('takes address and key of %s', async (_what, given, expected) => {
    const seen: string[] = [];
    const listen = (name: string) =>
      serve(({ headers }, response) => {
        seen.push(`${name} ${headers.authorization?.replace('Bearer shv_', '')}`);
        response.writeHead(200, { 'content-type': 'application/json' });
        response.end('{"jsonrpc":"2.0","id":1,"result":{"protocolVersion":"2025-11-25"}}');
      });
    const urls: Record<string, string> = { a: await listen('a'), b: await listen('b') };
    const keys = { SANDBOX_API_KEY: 'shv_pair', SANDHAVEN_API_KEY: 'shv_alias' };
    const named = Object.entries(given).map(([name, value]) => [name, urls[value] ?? value]);
    const bridge = start([], { ...keys, ...Object.fromEntries(named) });
    bridge.send(initialize);
    await expect.poll(() => bridge.lines()).toHaveLength(1);
    expect(seen).toEqual([expected]);
  });
});
