/**
 * The packages from a real registry, as their users get them: `npx -y @sandhaven/mcp` in an empty home, with the official
 * client, against a real service with real sandboxes.
 */
import { spawn, spawnSync } from 'node:child_process';
import { globSync, readFileSync } from 'node:fs';
import { readdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { Client } from '@modelcontextprotocol/client';
import { StdioClientTransport } from '@modelcontextprotocol/client/stdio';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { tools } from '../../src/catalog/index.ts';
import { must, type Service, startService } from '../support/service.ts';
import { type Newcomer, newcomer, publishPackages, type Registry, startRegistry } from './registry.ts';

let registry: Registry;
let service: Service;

beforeAll(async () => {
  registry = await startRegistry();
  await publishPackages(registry);
  service = await startService();
  await must(service, 'CreateSandbox', { name: 'demo', cpu: 1, memory_gb: 1, disk_gb: 1 });
}, 180_000);

afterAll(async () => {
  await service?.stop();
  await registry?.stop();
}, 60_000);

const initialize = {
  ...{ jsonrpc: '2.0', id: 1, method: 'initialize' },
  params: { protocolVersion: '2025-11-25', capabilities: {}, clientInfo: { name: 'test', version: '1' } },
};

/** This project's Node, and the machine's own one where the packages promise to run on it. */
const nodes = [process.execPath, ...['/usr/bin/node', '/usr/local/bin/node'].filter(isPromised)];

function isPromised(node: string): boolean {
  const { status, stdout } = spawnSync(node, ['--version'], { encoding: 'utf8' });
  return status === 0 && Number(/^v(\d+)/.exec(stdout)?.[1]) >= 20;
}

describe.each(nodes)('npx -y @sandhaven/mcp on %s', (node) => {
  let user: Newcomer;
  let client: Client;

  beforeAll(async () => {
    user = await newcomer(registry, node);
    client = await connect(user);
  }, 60_000);

  afterAll(async () => {
    await client?.close();
    await user?.remove();
  });

  const callTool = (name: string, parameters: object, options = {}) =>
    client.callTool({ name: `Sandbox_${name}`, arguments: { sandbox: 'demo', ...parameters } }, options);

  it('lists the tools of the service', async () => {
    const listed = (await client.listTools()).tools.map(({ name }) => name);
    expect(listed).toEqual(tools.map(({ name }) => name.replace('.', '_')));
  });

  it('runs a command, and shows its progress', async () => {
    const messages: string[] = [];
    const command =
      'echo one; for i in $(seq 100); do [ ! -e go ] || break; sleep 0.2; done; echo two; rm go';
    const call = callTool(
      'RunCommand',
      { command },
      { onprogress: ({ message }: { message?: string }) => messages.push(message ?? '') },
    );
    await expect.poll(() => messages.join('\n'), { timeout: 15_000 }).toContain('one');
    await must(service, 'RunCommand', { sandbox: 'demo', command: 'touch go' });
    expect((await call).structuredContent).toMatchObject({ output: 'one\ntwo\n', exit_code: 0 });
  });

  it('ends a command that is cancelled', async () => {
    const abort = new AbortController();
    const command = 'echo $$ > pid; exec sleep 600';
    const call = callTool('RunCommand', { command }, { signal: abort.signal });
    const ended = expect(call).rejects.toThrow(/enough/);
    const lives = async () => {
      const look = 'kill -0 "$(cat pid)" && echo lives || echo gone';
      return (await must(service, 'RunCommand', { sandbox: 'demo', command: look }))['output'];
    };
    await expect.poll(lives, { timeout: 15_000 }).toContain('lives');
    abort.abort('enough');
    await ended;
    await expect.poll(lives, { timeout: 15_000 }).toContain('gone');
    await must(service, 'RunCommand', { sandbox: 'demo', command: 'rm pid' });
  });

  it('passes large results', async () => {
    await must(service, 'RunCommand', { sandbox: 'demo', command: 'yes é | head -c 3000000 > large.txt' });
    const { structuredContent } = await callTool('ReadFile', { path: 'large.txt' });
    expect((structuredContent as { content: string }).content).toHaveLength(2_000_000);
  });
});

describe('npx -y @sandhaven/mcp', () => {
  let user: Newcomer;

  beforeAll(async () => {
    user = await newcomer(registry, process.execPath);
  });

  afterAll(() => user?.remove());

  it('shows the key in no list of processes, and leaves nothing where it was started', async () => {
    const client = await connect(user);
    const lines = globSync('/proc/[0-9]*/cmdline').map(commandLineOf);
    expect(lines.filter((line) => line.includes('sandhaven-mcp'))).not.toEqual([]);
    expect(lines.filter((line) => line.includes(service.apiKey))).toEqual([]);
    await client.close();
    expect(await readdir(user.folder)).toEqual([]);
  });

  it('ends with its client', async () => {
    const env = { SANDBOX_API_URL: service.url, SANDBOX_API_KEY: service.apiKey };
    const started = start(user, 'npx', ['-y', '@sandhaven/mcp'], env);
    started.child.stdin.write(`${JSON.stringify(initialize)}\n`);
    await expect.poll(() => started.output.stdout, { timeout: 15_000 }).toContain('"id":1');
    started.child.stdin.end();
    const { status, stdout, stderr } = await started.ended;
    expect({ status, stderr }).toEqual({ status: 0, stderr: '' });
    expect(
      stdout
        .trim()
        .split('\n')
        .map((line) => JSON.parse(line).result.serverInfo.name),
    ).toEqual(['sandhaven']);
  });

  it.each([
    ['a wrong key', { SANDBOX_API_KEY: 'shv_wrong' }, 3, 'The API key is not valid. Check SANDBOX_API_KEY'],
    ['no key', {}, 3, 'There is no API key. Set SANDBOX_API_KEY'],
    [
      'no address',
      { SANDBOX_API_URL: '', SANDBOX_API_KEY: 'shv_wrong' },
      2,
      'Set SANDBOX_API_URL, or give --url',
    ],
  ])('with %s says so, and ends', async (_what, given, expected, message) => {
    const env = { SANDBOX_API_URL: service.url, ...given };
    const { status, stderr } = await run(
      user,
      'npx',
      ['-y', '@sandhaven/mcp'],
      env,
      `${JSON.stringify(initialize)}\n`,
    );
    expect(stderr).toContain(message);
    expect(status).toBe(expected);
  });

  it('is installed beside the SDK, which works here too', async () => {
    await writeFile(join(user.folder, 'package.json'), '{ "private": true, "type": "module" }\n');
    const installed = await run(user, 'npm', ['install', '--no-audit', '--no-fund', '@sandhaven/sdk']);
    expect(installed.status).toBe(0);
    const script = `import { Sandhaven } from '@sandhaven/sdk';
      const ran = await new Sandhaven().runCommand({ sandbox: 'demo', command: 'echo hello' });
      console.log(ran.output);`;
    await writeFile(join(user.folder, 'main.js'), script);
    const env = { SANDBOX_API_URL: service.url, SANDBOX_API_KEY: service.apiKey };
    expect(await run(user, process.execPath, ['main.js'], env)).toEqual({
      status: 0,
      stdout: 'hello\n\n',
      stderr: '',
    });
  });
});

async function connect(user: Newcomer, key = service.apiKey): Promise<Client> {
  const client = new Client({ name: 'test', version: '1' });
  const env = { ...user.env, SANDBOX_API_URL: service.url, SANDBOX_API_KEY: key };
  const command = { command: 'npx', args: ['-y', '@sandhaven/mcp'], env, cwd: user.folder };
  await client.connect(new StdioClientTransport(command));
  return client;
}

interface Ran {
  status: number | null;
  stdout: string;
  stderr: string;
}

async function run(user: Newcomer, file: string, args: string[], env = {}, input = ''): Promise<Ran> {
  const { child, ended } = start(user, file, args, env);
  child.stdin.write(input);
  return ended;
}

function start(user: Newcomer, file: string, args: string[], env = {}) {
  const child = spawn(file, args, { cwd: user.folder, env: { ...user.env, ...env } });
  const output = { stdout: '', stderr: '' };
  child.stdout.on('data', (chunk) => {
    output.stdout += chunk;
  });
  child.stderr.on('data', (chunk) => {
    output.stderr += chunk;
  });
  child.stdin.on('error', () => {});
  const ended = new Promise<Ran>((resolve, reject) => {
    child.once('error', reject);
    child.once('close', (status) => resolve({ status, ...output }));
  });
  return { child, output, ended };
}

/** Empty for a process that has ended meanwhile. */
function commandLineOf(path: string): string {
  try {
    return readFileSync(path, 'utf8');
  } catch {
    return '';
  }
}
