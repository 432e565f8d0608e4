/** A real socket of the kind that systemd listens on; the helper is the built launcher. */
import { type ChildProcess, spawn } from 'node:child_process';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { afterEach, beforeEach, expect, it } from 'vitest';
import { connectManager, managerOf } from '../../src/app/parts/service-manager.ts';

/** Prints each datagram as one line of JSON. */
const LISTENER = `
import json, socket, sys
path = sys.argv[1]
s = socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM)
s.bind('\\0' + path[1:] if path.startswith('@') else path)
print('listening', flush=True)
while True:
    print(json.dumps(s.recv(4096).decode()), flush=True)
`;

const nothing = { keep: [], forget: [] };
const quiet = { info() {}, warn() {}, error() {} };

let folder: string;
let listener: ChildProcess | undefined;
let heard: string[];

beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'sandhaven-manager-'));
});

afterEach(async () => {
  listener?.kill();
  await rm(folder, { recursive: true });
});

it.each([
  ['a path', () => join(folder, 'notify')],
  ['an abstract name', () => `@sandhaven-test-${process.pid}`],
])('a manager at %s hears that the service serves, lives and stops', async (_, socketOf) => {
  const socket = socketOf();
  await listen(socket);
  const manager = await connectManager({ socket, watchdogMs: 30 }, nothing, quiet);
  manager.ready('Serves at http://127.0.0.1:7420');
  await expect
    .poll(() => heard.slice(0, 3))
    .toEqual(['READY=1\nSTATUS=Serves at http://127.0.0.1:7420', 'WATCHDOG=1', 'WATCHDOG=1']);
  manager.stopping();
  manager.close();
  await expect.poll(() => heard).toContain('STOPPING=1\nSTATUS=Finishes open work');
});

it('a manager that does not watch gets no signs of life', async () => {
  const socket = join(folder, 'notify');
  await listen(socket);
  const manager = await connectManager({ socket, watchdogMs: null }, nothing, quiet);
  manager.ready('Serves');
  manager.stopping();
  manager.close();
  await expect.poll(() => heard).toEqual(['READY=1\nSTATUS=Serves', 'STOPPING=1\nSTATUS=Finishes open work']);
});

it('a socket without a listener ends nothing', async () => {
  const manager = await connectManager({ socket: join(folder, 'nobody'), watchdogMs: 10 }, nothing, quiet);
  manager.ready('Serves');
  manager.stopping();
  manager.close();
});

it.each([
  [{}, null],
  [{ NOTIFY_SOCKET: '' }, null],
  [{ NOTIFY_SOCKET: 'vsock:2:1' }, null],
  [{ NOTIFY_SOCKET: '/run/systemd/notify' }, { socket: '/run/systemd/notify', watchdogMs: null }],
  [
    { NOTIFY_SOCKET: '@name', WATCHDOG_USEC: '60000000' },
    { socket: '@name', watchdogMs: 60_000 },
  ],
  [
    { NOTIFY_SOCKET: '/run/n', WATCHDOG_USEC: '60000000', WATCHDOG_PID: '1' },
    { socket: '/run/n', watchdogMs: null },
  ],
  [
    { NOTIFY_SOCKET: '/run/n', WATCHDOG_USEC: 'soon' },
    { socket: '/run/n', watchdogMs: null },
  ],
])('the environment %j names the manager %j', (environment, manager) => {
  expect(managerOf(environment)).toEqual(manager);
});

async function listen(path: string): Promise<void> {
  heard = [];
  const child = spawn('python3', ['-c', LISTENER, path], { stdio: ['ignore', 'pipe', 'inherit'] });
  listener = child;
  await new Promise<void>((resolve) => {
    createInterface(child.stdout).on('line', (line) => {
      if (line === 'listening') resolve();
      else heard.push(JSON.parse(line));
    });
  });
}
