/** Terminals of a real sandbox, over WebSockets: programs on the whole screen, several viewers, and coming back. */
import { once } from 'node:events';
import { readFile } from 'node:fs/promises';
import { setTimeout as sleep } from 'node:timers/promises';
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import { WebSocket } from 'ws';
import { must, type Service, startService } from '../../support/service.ts';

let service: Service;
let sandbox: string;
const viewers: Viewer[] = [];

beforeAll(async () => {
  service = await startService();
  sandbox = String((await must(service, 'CreateSandbox', { memory_gb: 1, disk_gb: 1 }))['id']);
});

afterEach(async () => {
  for (const viewer of viewers.splice(0)) viewer.socket.terminate();
  const { terminals } = await act('ListTerminals', { sandbox });
  for (const { terminal } of terminals as { terminal: string }[]) {
    await act('EndTerminal', { sandbox, terminal });
  }
});

afterAll(() => service?.stop());

async function act(name: string, parameters: object): Promise<Record<string, unknown>> {
  const response = await fetch(`${service.url}/v1/admin/${name}`, {
    method: 'POST',
    headers: { authorization: `Bearer ${service.apiKey}`, 'content-type': 'application/json' },
    body: JSON.stringify(parameters),
  });
  return (await response.json()) as Record<string, unknown>;
}

interface Viewer {
  socket: WebSocket;
  notes: Record<string, unknown>[];
  text: string;
  bytes: number;
  closed: Promise<number>;
  type(keys: string): void;
  until(words: string): Promise<void>;
}

async function attach(query = 'cols=80&rows=24', inside = sandbox): Promise<Viewer> {
  const address = `${service.url.replace('http', 'ws')}/v1/sandboxes/${inside}/terminal?${query}`;
  const socket = new WebSocket(address, {
    headers: { authorization: `Bearer ${service.apiKey}` },
    ...{ perMessageDeflate: false, maxPayload: 1 << 20, handshakeTimeout: 20_000 },
  });
  const viewer: Viewer = {
    ...{ socket, notes: [], text: '', bytes: 0 },
    closed: new Promise((resolve) => void socket.on('close', resolve)),
    type: (keys) => socket.send(Buffer.from(keys), { binary: true }),
    until: (words) =>
      expect
        .poll(() => viewer.text.includes(words) || viewer.text.slice(-500), { timeout: 15_000 })
        .toBe(true),
  };
  socket.on('message', (data, isBinary) => {
    if (!isBinary) viewer.notes.push(JSON.parse(String(data)));
    else {
      viewer.bytes += data.length;
      viewer.text += data.toString('latin1');
      if (viewer.text.length > 800_000) viewer.text = viewer.text.slice(-400_000);
    }
  });
  viewers.push(viewer);
  await once(socket, 'open');
  await expect.poll(() => viewer.notes[0]).toMatchObject({ type: 'ready' });
  return viewer;
}

const command = async (line: string) =>
  String((await must(service, 'RunCommand', { sandbox, command: line }))['stdout']);

describe('a terminal', () => {
  it('is a login shell in the sandbox root, with its environment and the size of its viewer', async () => {
    const viewer = await attach('cols=132&rows=43');
    viewer.type(
      'echo "at $PWD $TERM $SHELL $(stty size) $OMP_NUM_THREADS"; shopt -q login_shell && echo lo""gin\r',
    );
    await viewer.until('at /workspace xterm-256color /bin/bash 43 132 2');
    await viewer.until('login');
    viewer.socket.send('{"type":"resize","cols":100,"rows":30}', { binary: false });
    await sleep(100);
    viewer.type('stty size\r');
    await viewer.until('30 100\r\n');
  });

  it('is left and found again with what it has printed, by another connection and another service process', async () => {
    const first = await attach();
    first.type('kept=value; for n in 1 2 3; do sleep 0.3; echo "line $n"; done\r');
    await first.until('line 1');
    first.socket.terminate();
    await service.restart();
    const second = await attach();
    expect(second.notes[0]).toMatchObject({ created: false });
    await second.until('line 3');
    second.type('echo "kept $kept"\r');
    await second.until('kept value');
  });

  it('shows two viewers the same, and takes keys of both', async () => {
    const [one, other] = [await attach(), await attach()];
    one.type('echo o""ne\r');
    await other.until('one\r\n');
    other.type('echo oth""er\r');
    await one.until('other\r\n');
    await expect.poll(() => one.text).toBe(other.text);
  });

  it('ends with its shell, and with its sandbox, each with a word', async () => {
    const exits = await attach();
    exits.type('exit 7\r');
    expect(await exits.closed).toBe(1000);
    expect(exits.notes.at(-1)).toEqual({ type: 'exit', code: 7, signal: null });
    const stopped = await attach();
    // Unlike an interactive shell, it ends at SIGTERM, while the sandbox is still stopping.
    stopped.type('echo re""ady; exec sleep 1000\r');
    await stopped.until('ready');
    await must(service, 'StopSandbox', { sandbox });
    expect(await stopped.closed).toBe(4409);
    expect(stopped.notes.at(-1)).toMatchObject({ type: 'error', code: 'invalid_state' });
    await must(service, 'StartSandbox', { sandbox });
    expect(await act('ListTerminals', { sandbox })).toEqual({ terminals: [] });
  });
});

describe('a program on the whole screen', () => {
  it('is there for who comes later, and gives the screen back when it ends', async () => {
    const first = await attach();
    await must(service, 'WriteFile', { sandbox, path: 'long.txt', content: 'first line\n'.repeat(500) });
    first.type('less long.txt\r');
    await first.until('\x1b[?1049h');
    await first.until('first line');
    first.socket.terminate();
    const second = await attach();
    await second.until('\x1b[?1049h');
    second.type('q');
    await second.until('\x1b[?1049l');
    second.type('echo ba""ck\r');
    await second.until('back\r\n');
  });

  it('paints anew when the beginning of its picture is not kept any more', { timeout: 120_000 }, async () => {
    // As any program on the whole screen: it paints, and paints again when the size has changed.
    const painter = [
      'import signal, sys',
      'def paint(*_): sys.stdout.write("\\033[2JThe pic" + "ture"); sys.stdout.flush()',
      'sys.stdout.write("\\033[?1049h" + "x" * 400_000); sys.stdout.flush()',
      'signal.signal(signal.SIGWINCH, paint)',
      'while True: signal.pause()',
    ].join('\n');
    await must(service, 'WriteFile', { sandbox, path: '/workspace/painter.py', content: painter });
    const first = await attach();
    first.type('python3 /workspace/painter.py\r');
    await expect.poll(() => first.bytes, { timeout: 60_000 }).toBeGreaterThan(400_000);
    first.socket.terminate();
    const second = await attach();
    await second.until('The picture');
    second.type('\x03');
    await sleep(300);
    second.type('echo ba""ck\r');
    await second.until('back\r\n');
  });
});

describe('much output', () => {
  it('costs neither the service nor the agent memory, and a slow viewer only itself', async () => {
    const quick = await attach();
    const slow = await attach('');
    slow.socket.pause();
    const agent = async () => Number(await command("awk '/^RssAnon/ { print $2 }' /proc/1/status"));
    const resident = async () => {
      const status = await readFile(`/proc/${service.pid}/status`, 'utf8');
      return Number(/^VmRSS:\s+(\d+) kB/m.exec(status)?.[1]);
    };
    quick.type('head -c 5000000 /dev/zero | tr "\\0" x; echo "war"m\r');
    await quick.until('warm');
    const before = { agent: await agent(), service: await resident() };
    quick.type('head -c 50000000 /dev/zero | tr "\\0" y; echo "al"l\r');
    await quick.until('all');
    expect((await agent()) - before.agent).toBeLessThan(4_000);
    expect((await resident()) - before.service).toBeLessThan(64_000);
    slow.socket.resume();
    await slow.until('all');
    expect(slow.notes.some(({ type }) => type === 'skipped')).toBe(true);
  });
});

describe('the command line', () => {
  it('lists terminals and ends them', async () => {
    const viewer = await attach('terminal=build&cols=90&rows=20');
    viewer.type('sleep 1000\r');
    await expect
      .poll(() => act('ListTerminals', { sandbox }))
      .toMatchObject({
        terminals: [{ terminal: 'build', cols: 90, rows: 20, viewers: 1, program: 'sleep', busy: true }],
      });
    expect(await act('EndTerminal', { sandbox, terminal: 'build' })).toEqual({
      terminal: 'build',
      ended: true,
    });
    expect(await viewer.closed).toBe(1000);
    expect(await act('EndTerminal', { sandbox, terminal: 'build' })).toMatchObject({ code: 'not_found' });
  });
});

describe('auto-stop', () => {
  it('spares what runs in the foreground of a terminal that nobody looks at, and not an idle one', async () => {
    const made = { auto_stop_minutes: 1, memory_gb: 1, disk_gb: 1 };
    const [busy, idle] = await Promise.all(
      ['busy', 'idle'].map((name) => must(service, 'CreateSandbox', { ...made, name })),
    );
    const working = await attach('', String(busy?.['id']));
    working.type('sleep 1000\r');
    await working.until('sleep 1000');
    const waiting = await attach('', String(idle?.['id']));
    await waiting.until('# ');
    await sleep(500);
    for (const viewer of [working, waiting]) viewer.socket.terminate();
    const stateOf = async (name: string) => (await must(service, 'GetSandbox', { sandbox: name }))['state'];
    await expect.poll(() => stateOf('idle'), { timeout: 100_000, interval: 2_000 }).toBe('stopped');
    expect(await stateOf('busy')).toBe('started');
  }, 150_000);
});
