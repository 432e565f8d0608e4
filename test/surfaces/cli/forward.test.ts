/** `sandhaven forward` as its users have it: a process between a client here and a program in a real sandbox. */
import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { connect, createServer } from 'node:net';
import { createInterface } from 'node:readline';
import { text } from 'node:stream/consumers';
import { setTimeout as sleep } from 'node:timers/promises';
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import { inPart } from '../../deep/parts.ts';
import { bin, must, type Service, startService } from '../../support/service.ts';
import { cliFor } from './cli-harness.ts';

const PORT = 4001;
/**
 * Says back all that it was told, once that has ended. Its queue holds every connection of a test: where one overflows, the
 * kernel may hand over the end of a connection without what came before it.
 */
const PROGRAM = `
import socketserver
class Handler(socketserver.StreamRequestHandler):
    def handle(self): self.wfile.write(b'told: ' + self.rfile.read())
class Server(socketserver.ThreadingTCPServer): allow_reuse_address = True; request_queue_size = 128
Server(('127.0.0.1', ${PORT}), Handler).serve_forever()
`;

interface Forwarding {
  child: ChildProcess;
  /** Where it listens, in the order of its arguments. */
  ports: number[];
  stderr(): string;
}

let service: Service;
const children: ChildProcess[] = [];

beforeAll(async () => {
  service = await startService();
  await must(service, 'CreateSandbox', { name: 'inside', memory_gb: 1, disk_gb: 1 });
  await must(service, 'WriteFile', { path: 'server.py', content: PROGRAM });
  const listens = `grep -q ':${PORT.toString(16).padStart(4, '0').toUpperCase()} ' /proc/net/tcp`;
  const command = `nohup python3 server.py > log 2>&1 & until ${listens}; do sleep 0.05; done`;
  await must(service, 'RunCommand', { command });
});

afterEach(() => {
  for (const child of children.splice(0)) child.kill('SIGKILL');
});

afterAll(() => service?.stop());

async function forward(...args: string[]): Promise<Forwarding> {
  const env = {
    PATH: process.env['PATH'] ?? '',
    SANDBOX_API_URL: service.url,
    SANDBOX_API_KEY: service.apiKey,
  };
  const child = spawn(bin, ['forward', ...args, '--json'], { env, stdio: ['ignore', 'pipe', 'pipe'] });
  children.push(child);
  let stderr = '';
  child.stderr.on('data', (chunk) => {
    stderr += chunk;
  });
  const [line] = await Promise.race([
    once(createInterface({ input: child.stdout }), 'line'),
    once(child, 'close').then(() => Promise.reject(new Error(stderr))),
  ]);
  const { forwards } = JSON.parse(line) as { forwards: { host: string; local_port: number }[] };
  return { child, ports: forwards.map(({ local_port }) => local_port), stderr: () => stderr };
}

function tell(port: number, words: string): Promise<string> {
  const socket = connect({ port, host: '127.0.0.1', allowHalfOpen: true });
  socket.end(words);
  return text(socket);
}

async function exitOf(child: ChildProcess): Promise<number | null> {
  if (child.exitCode === null) await once(child, 'exit');
  return child.exitCode;
}

describe('sandhaven forward', () => {
  it('leads each local port to its port inside, one direction ending before the other', async () => {
    const { ports } = await forward('inside', `0:${PORT}`, `0:${PORT}`);
    expect(new Set(ports).size).toBe(2);
    const answers = await Promise.all(
      Array.from({ length: 20 }, (_, index) => tell(ports[index % 2] ?? 0, `${index}`)),
    );
    expect(answers).toEqual(Array.from({ length: 20 }, (_, index) => `told: ${index}`));
    const words = 'many '.repeat(1_000_000);
    expect(await tell(ports[0] ?? 0, words)).toBe(`told: ${words}`);
  });

  it('takes the same port here when none is given, and shows where it listens', async () => {
    const child = spawn(bin, ['forward', 'inside', `${PORT}`], {
      env: { ...process.env, SANDBOX_API_URL: service.url, SANDBOX_API_KEY: service.apiKey },
      stdio: ['ignore', 'pipe', 'inherit'],
    });
    children.push(child);
    const [line] = await once(createInterface({ input: child.stdout }), 'line');
    expect(line).toBe(`127.0.0.1:${PORT} leads to port ${PORT}`);
    expect(await tell(PORT, 'x')).toBe('told: x');
  });

  it('resets a connection to a port where nothing listens, reports it, and goes on', async () => {
    const { ports, stderr } = await forward('inside', '0:4999', `0:${PORT}`);
    await expect(tell(ports[0] ?? 0, 'x')).rejects.toMatchObject({ code: 'ECONNRESET' });
    await expect.poll(stderr).toContain('"code":"not_found"');
    expect(await tell(ports[1] ?? 0, 'x')).toBe('told: x');
  });

  it('ends cleanly at an interrupt, though a connection is open', async () => {
    const { child, ports, stderr } = await forward('inside', `0:${PORT}`);
    const socket = connect(ports[0] ?? 0, '127.0.0.1');
    socket.on('error', () => {});
    socket.write('x');
    await once(socket, 'ready');
    const closed = new Promise((resolve) => socket.once('close', resolve));
    child.kill('SIGINT');
    expect(await exitOf(child)).toBe(0);
    await closed;
    expect(stderr()).toBe('');
  });

  it('ends at an interrupt while connections are ending', async () => {
    for (let delayMs = 0; delayMs < (inPart('output') ? 10 : 1); delayMs++) {
      const { child, ports } = await forward('inside', `0:${PORT}`);
      const answers = Array.from({ length: 30 }, () => tell(ports[0] ?? 0, 'x').catch(() => 'reset'));
      await Promise.race(answers);
      await sleep(delayMs);
      child.kill('SIGINT');
      expect(await exitOf(child), `after ${delayMs} ms`).toBe(0);
      await Promise.all(answers);
    }
  }, 60_000);

  it('reports wrong arguments before it listens', async () => {
    const env = { SANDBOX_API_URL: service.url, SANDBOX_API_KEY: service.apiKey };
    const cli = cliFor(service.url);
    const refused = async (...args: string[]) => {
      const { code, stdout, stderr } = await cli(['forward', ...args], { env });
      expect(stdout).toBe('');
      return [code, stderr.split('\n')[0]];
    };
    expect(await refused()).toEqual([2, 'Invalid argument: No sandbox is named.']);
    expect(await refused('inside')).toEqual([2, 'Invalid argument: Which port?']);
    for (const wrong of ['0', '65536', '65536:1', '1:2:3', 'http', ':80', '-1']) {
      expect((await refused('inside', '--', wrong))[0], wrong).toBe(2);
    }
    expect(await refused('nope', '80')).toEqual([4, "Not found: There is no sandbox 'nope'."]);
    await must(service, 'CreateSandbox', { name: 'stopped', memory_gb: 1, disk_gb: 1 });
    await must(service, 'StopSandbox', { sandbox: 'stopped' });
    expect(await refused('stopped', '80')).toEqual([5, "Invalid state: Sandbox 'stopped' is stopped."]);
    const other = createServer().listen(0, '127.0.0.1');
    await once(other, 'listening');
    const { port } = other.address() as { port: number };
    expect(await refused('inside', `${port}:80`)).toEqual([
      5,
      `Failed precondition: 127.0.0.1:${port} is already in use by another program.`,
    ]);
    other.close();
  });

  // The last: nobody needs the service after it.
  it('goes on when the service was away', async () => {
    const { port } = new URL(service.url);
    const { ports, stderr } = await forward('inside', `0:${PORT}`);
    expect(await tell(ports[0] ?? 0, '1')).toBe('told: 1');
    await service.terminate();
    await expect(tell(ports[0] ?? 0, 'x')).rejects.toMatchObject({ code: 'ECONNRESET' });
    await expect.poll(stderr).toContain('"code":"unavailable"');
    const again = await startService({
      dataDir: service.dataDir,
      flags: ['--listen', `127.0.0.1:${port}`],
      env: { SANDBOX_API_KEY: service.apiKey },
    });
    expect(await tell(ports[0] ?? 0, '2')).toBe('told: 2');
    await again.terminate();
  });
});
