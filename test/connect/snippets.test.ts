/**
 * Each configuration of the page's Connect, run as it is shown, in the client that it is for: on a machine that resolves no
 * name below localhost, and without a registry of packages.
 */
import { mkdir, writeFile } from 'node:fs/promises';
import { get } from 'node:http';
import { isIP } from 'node:net';
import { join } from 'node:path';
import { json } from 'node:stream/consumers';
import { Client, StreamableHTTPClientTransport } from '@modelcontextprotocol/client';
import { StdioClientTransport } from '@modelcontextprotocol/client/stdio';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { tools } from '../../src/catalog/index.ts';
import { type Configuration, configurationsFor } from '../../web/src/connect/configurations.ts';
import { must } from '../support/service.ts';
import { type SharedService, sharedService } from '../support/shared-service.ts';
import { type PlainMachine, plainMachine } from './plain-machine.ts';

/** For what unpacks hundreds of files on a busy machine. */
const INSTALL_MS = 120_000;

let service: SharedService;
let machine: PlainMachine;
let shown: Map<string, Configuration>;

beforeAll(async () => {
  service = await sharedService();
  machine = await plainMachine();
  const url = await addressShown(`sandhaven.localhost:${new URL(service.url).port}`);
  shown = new Map(configurationsFor(url, service.apiKey).map((one) => [one.id, one]));
});

afterAll(async () => {
  await machine?.remove();
  await service?.stop();
});

/** As the page asks for it, which a browser has opened at this name. */
async function addressShown(host: string): Promise<string> {
  const answer = await new Promise<NodeJS.ReadableStream>((resolve, reject) =>
    get(`${service.url}/packages`, { headers: { host } }, resolve).once('error', reject),
  );
  return ((await json(answer)) as { url: string }).url;
}

const textOf = (id: string) => shown.get(id)?.text ?? '';
const installOf = (id: string) => shown.get(id)?.install ?? '';
const withKey = () => ({ SANDBOX_API_KEY: service.apiKey });

it('the machine resolves no name below localhost', async () => {
  const { stdout } = await machine.shell(
    'getent hosts sandhaven.localhost || echo none; getent hosts pypi.org || echo none',
  );
  expect(stdout).toBe('none\nnone\n');
});

it('all of them are run here', () => {
  expect([...shown.keys()]).toEqual([
    ...['npx', 'claude-code', 'claude-desktop', 'cursor', 'vscode', 'openai-agents', 'curl'],
    ...['python', 'typescript', 'cli', 'environment'],
  ]);
});

it('npx starts a program, which serves MCP', { timeout: INSTALL_MS }, async () => {
  const { command, args, env } = JSON.parse(textOf('npx')).mcpServers.sandhaven;
  const [file, ...rest] = machine.command([command, ...args]);
  const started = { command: file, args: rest, cwd: machine.folder, env: { ...machine.env, ...env } };
  await usesTools(new StdioClientTransport(started));
});

it('Claude Desktop starts the same', () => {
  expect(textOf('claude-desktop')).toBe(textOf('npx'));
});

it('cursor connects over HTTP', async () => {
  await connects(JSON.parse(textOf('cursor')).mcpServers.sandhaven);
});

it('VS Code connects over HTTP, with the key that it asks for', async () => {
  const { inputs, servers } = JSON.parse(textOf('vscode'));
  expect(inputs).toMatchObject([{ type: 'promptString', id: 'sandhaven-key', password: true }]);
  const { url, headers } = servers.sandhaven;
  const authorization = headers.Authorization.replace('$'.concat('{input:sandhaven-key}'), service.apiKey);
  await connects({ url, headers: { Authorization: authorization } });
});

it('Claude Code gets an address and a header from its command', async () => {
  await program('claude', '#!/bin/sh\nprintf \'%s\\0\' "$@"\n');
  const { status, stdout } = await machine.shell(textOf('claude-code'));
  expect(status).toBe(0);
  const [mcp, add, transport, kind, name, url = '', header, text = '', ...more] = stdout.split('\0');
  expect([mcp, add, transport, kind, name, header, ...more]).toEqual([
    'mcp',
    'add',
    '--transport',
    'http',
    'sandhaven',
    '--header',
    '',
  ]);
  const [field = '', value = ''] = text.split(': ');
  await connects({ url, headers: { [field]: value } });
});

it('curl creates a sandbox', async () => {
  const { status, stdout } = await machine.shell(textOf('curl'), withKey());
  expect(status).toBe(0);
  expect(JSON.parse(stdout)).toMatchObject({ name: 'demo', state: 'started' });
});

it('Python gives the address and the key to OpenAI Agents', async () => {
  await writeFile(join(machine.folder, 'agent.py'), textOf('openai-agents'));
  const library = join(import.meta.dirname, 'stand-in');
  const env = { ...withKey(), PYTHONPATH: library, PYTHONDONTWRITEBYTECODE: '1' };
  const { stdout, stderr } = await machine.shell('python3 agent.py', env);
  expect(stdout, stderr).toContain(String((await must(service, 'WhoAmI', {}))['user_id']));
});

it('Python runs a command in a sandbox', { timeout: INSTALL_MS }, async () => {
  await writeFile(join(machine.folder, 'main.py'), textOf('python'));
  const ran = await machine.shell(`${installOf('python')} >&2\npython main.py`, withKey());
  expect(ran.stdout, ran.stderr).toMatch(/^Linux /);
  expect(ran.status).toBe(0);
});

it('TypeScript runs a command in a sandbox', { timeout: INSTALL_MS }, async () => {
  await writeFile(join(machine.folder, 'main.mjs'), textOf('typescript'));
  const ran = await machine.shell(`${installOf('typescript')} >&2\nnode main.mjs`, withKey());
  expect(ran.stdout, ran.stderr).toMatch(/^Linux /);
  expect(ran.status).toBe(0);
});

it('the command line runs code in a sandbox', { timeout: INSTALL_MS }, async () => {
  const ran = await machine.shell(`${installOf('cli')} >&2\n${textOf('cli')}`);
  expect(ran.stdout, ran.stderr).toBe('1267650600228229401496703205376\n');
  expect(ran.status).toBe(0);
});

it('the environment is what the clients read', async () => {
  const { stdout } = await machine.shell(`${textOf('environment')}\nenv | grep ^SANDBOX_API | sort`);
  expect(stdout).toBe(`SANDBOX_API_KEY=${service.apiKey}\nSANDBOX_API_URL=${service.url}\n`);
});

interface HttpConfiguration {
  url: string;
  headers: Record<string, string>;
}

/** An address needs no resolver, so the client may be one of this process. */
async function connects({ url, headers }: HttpConfiguration): Promise<void> {
  expect(isIP(new URL(url).hostname)).toBe(4);
  await usesTools(new StreamableHTTPClientTransport(new URL(url), { requestInit: { headers } }));
}

async function usesTools(transport: StdioClientTransport | StreamableHTTPClientTransport): Promise<void> {
  const client = new Client({ name: 'test', version: '1' });
  try {
    await client.connect(transport);
    expect((await client.listTools()).tools).toHaveLength(tools.length);
    const { structuredContent } = await client.callTool({ name: 'Sandbox_WhoAmI', arguments: {} });
    expect(structuredContent).toMatchObject({ user_id: (await must(service, 'WhoAmI', {}))['user_id'] });
  } finally {
    await client.close();
  }
}

async function program(name: string, text: string): Promise<void> {
  const folder = join(machine.env['HOME'] ?? '', 'bin');
  await mkdir(folder, { recursive: true });
  await writeFile(join(folder, name), text, { mode: 0o755 });
}
