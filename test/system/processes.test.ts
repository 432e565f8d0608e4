/** Processes of a real sandbox that outlive their caller: every byte for every viewer, input, signals, and another service. */
import { createCipheriv, createHash } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import { Sandhaven } from '../../sdk/src/index.ts';
import { inPart } from '../deep/parts.ts';
import { residentMb } from '../hostile/watch.ts';
import { act, mustAct } from '../support/people.ts';
import { must, type Service, startService } from '../support/service.ts';

/** The most that run in one sandbox are 128. */
const MANY = inPart('output') ? 100 : 10;

const BYTES = inPart('output') ? 1_000_000_000 : 10_000_000;

let service: Service;
const viewers: Viewer[] = [];

beforeAll(async () => {
  service = await startService();
  await must(service, 'CreateSandbox', { name: 'box', memory_gb: 1, disk_gb: 1 });
}, 120_000);

afterEach(async () => {
  for (const viewer of viewers.splice(0)) viewer.leave();
  // The last ones that end may make it forget earlier ones.
  for (const { process } of await list()) await act(service, 'EndProcess', { sandbox: 'box', process });
});

afterAll(() => service?.stop());

interface Listed {
  process: string;
  status: string;
  [field: string]: unknown;
}

const list = async () =>
  (await mustAct(service, 'ListProcesses', { sandbox: 'box' }))['processes'] as Listed[];

const start = (command: string, more: object = {}) =>
  mustAct(service, 'StartProcess', { sandbox: 'box', command, ...more });

const input = (process: string, more: object) =>
  mustAct(service, 'SendProcessInput', { sandbox: 'box', process, ...more });

interface Viewer {
  /** Position of the first byte. */
  from: number | null;
  /** Each piece of output by its stream; neighbours of one stream are one. */
  pieces: [stream: string, text: string][];
  text(stream?: string): string;
  until(words: string): Promise<void>;
  /** The last event. */
  over: Promise<{ event: string; data: Record<string, unknown> } | null>;
  leave(): void;
}

async function follow(process: string, from?: number): Promise<Viewer> {
  const abort = new AbortController();
  const query = from === undefined ? '' : `?from=${from}`;
  const response = await fetch(`${service.url}/v1/sandboxes/box/processes/${process}/output${query}`, {
    headers: { authorization: `Bearer ${service.apiKey}` },
    signal: abort.signal,
  });
  expect(response.status).toBe(200);
  const pieces: Viewer['pieces'] = [];
  const viewer: Viewer = {
    ...{ from: null, pieces, leave: () => abort.abort() },
    text: (stream) =>
      pieces.flatMap(([named, text]) => (stream === undefined || named === stream ? [text] : [])).join(''),
    until: (words) =>
      expect
        .poll(() => viewer.text().includes(words) || viewer.text().slice(-300), { timeout: 15_000 })
        .toBe(true),
    over: read(response, (event, data) => {
      if (event === 'begin') viewer.from = Number(data['from']);
      if (event !== 'output') return;
      const text = Buffer.from(String(data['base64']), 'base64').toString('latin1');
      const last = pieces.at(-1);
      if (last !== undefined && last[0] === data['stream']) last[1] += text;
      else pieces.push([String(data['stream']), text]);
    }).catch(() => null),
  };
  viewers.push(viewer);
  await expect.poll(() => viewer.from).not.toBe(null);
  return viewer;
}

async function read(response: Response, take: (event: string, data: Record<string, unknown>) => void) {
  let [rest, last] = ['', null as Awaited<Viewer['over']>];
  for await (const text of (response.body as ReadableStream).pipeThrough(new TextDecoderStream())) {
    const events = (rest + text).split('\n\n');
    rest = events.pop() ?? '';
    for (const whole of events) {
      const [, event, json] = /^event: (\w+)\ndata: (.*)$/.exec(whole) ?? [];
      if (event === undefined || json === undefined) continue;
      last = { event, data: JSON.parse(json) as Record<string, unknown> };
      take(event, last.data);
    }
  }
  return last;
}

const ended = (exit_code: number, more: object = {}) => ({
  event: 'result',
  data: { exit_code, signal: null, timed_out: false, ...more },
});

describe('output', () => {
  it('comes to each viewer whole, in order, with its streams, and then the end', async () => {
    const started = await start('echo one; sleep 0.3; echo two >&2; sleep 0.3; echo three; read go; exit 3', {
      ...{ tag: 'count', env: { A: 'b' }, timeout_seconds: 60 },
    });
    expect(started).toMatchObject({ tag: 'count', status: 'running', exit_code: null, cols: null });
    const first = await follow(String(started['process']));
    const second = await follow('count');
    await Promise.all([first.until('three\n'), second.until('three\n')]);
    expect(await list()).toMatchObject([
      { ...{ process: started['process'], viewers: 2, output_bytes: 14 } },
    ]);
    await input('count', { input: 'go\n' });
    const expected = [
      ['stdout', 'one\n'],
      ['stderr', 'two\n'],
      ['stdout', 'three\n'],
    ];
    for (const viewer of [first, second]) {
      expect(await viewer.over).toEqual(ended(3));
      expect([viewer.from, viewer.pieces]).toEqual([0, expected]);
    }
    expect(await list()).toMatchObject([{ status: 'ended', exit_code: 3, timed_out: false, viewers: 0 }]);
    const late = await follow(String(started['process']), 4);
    expect(await late.over).toEqual(ended(3));
    expect([late.from, late.pieces]).toEqual([4, expected.slice(1)]);
  });

  it('goes on when a viewer is cut off, and another gets every byte that follows', async () => {
    await start('for n in $(seq 1000 1400); do echo $n; sleep 0.01; done', { tag: 'numbers' });
    const first = await follow('numbers');
    await first.until('1050\n');
    first.leave();
    await first.over;
    const seen = first.text();
    // Something is printed while nobody looks.
    const printed = async () => Number((await list())[0]?.['output_bytes']);
    await expect.poll(printed).toBeGreaterThan(seen.length);
    const second = await follow('numbers', seen.length);
    expect(await second.over).toEqual(ended(0));
    expect(second.from).toBe(seen.length);
    const all = Array.from({ length: 401 }, (_, at) => `${1_000 + at}\n`).join('');
    expect(seen + second.text()).toBe(all);
  });

  it('waits for a viewer, and is forgotten but for the last of it without one', async () => {
    const bytes = 3_000_000;
    const counted = `seq 1 10000000 | head -c ${bytes}`;
    await start(`read go; ${counted}`, { tag: 'much' });
    const viewer = await follow('much');
    await input('much', { input: 'go\n' });
    expect(await viewer.over).toEqual(ended(0));
    expect(viewer.text()).toHaveLength(bytes);
    expect(viewer.text().startsWith('1\n2\n3\n')).toBe(true);
    const late = await follow('much');
    expect(await late.over).toEqual(ended(0));
    expect(bytes - (late.from ?? 0)).toBe(late.text().length);
    expect(late.text().length).toBeGreaterThanOrEqual(262_144);
    expect(viewer.text().endsWith(late.text())).toBe(true);
  }, 60_000);

  it('is whole however much there is, and the memory of the service stays flat', async () => {
    const printing = `openssl enc -aes-128-ctr -K 00 -iv 00 -in /dev/zero 2>/dev/null | head -c ${BYTES}`;
    const { process } = await start(`read begin; ${printing}`);
    const [seen, expected] = [createHash('sha256'), createHash('sha256')];
    const before = residentMb(service.pid);
    let most = before;
    const watching = setInterval(() => {
      most = Math.max(most, residentMb(service.pid));
    }, 100);
    const client = new Sandhaven({ url: service.url, apiKey: service.apiKey });
    const followed = client.processes.get('box', String(process)).follow({
      onOutput: ({ bytes }) => void seen.update(bytes),
    });
    // What it prints before its first viewer comes is forgotten.
    await expect.poll(list).toMatchObject([{ viewers: 1 }]);
    await input(String(process), { input: 'begin\n' });
    expect((await followed.finally(() => clearInterval(watching))).exit_code).toBe(0);
    const cipher = createCipheriv('aes-128-ctr', Buffer.alloc(16), Buffer.alloc(16));
    for (let left = BYTES; left > 0; left -= 65_536)
      expected.update(cipher.update(Buffer.alloc(Math.min(left, 65_536))));
    expect(seen.digest('hex')).toBe(expected.digest('hex'));
    expect(most - before).toBeLessThan(150);
  }, 180_000);

  it('is there after a restart of the service, from where a viewer was', async () => {
    await start('echo before; read word; echo "after $word"', { tag: 'lasting' });
    const first = await follow('lasting');
    await first.until('before\n');
    await service.restart();
    await first.over;
    const second = await follow('lasting', first.text().length);
    await input('lasting', { input: 'all\n' });
    expect(await second.over).toEqual(ended(0));
    expect(second.text()).toBe('after all\n');
  }, 120_000);
});

describe('many processes at once', () => {
  it('have viewers that come and go, each of whom goes on where the one before was cut off', async () => {
    const numbers = Array.from({ length: 20_000 }, (_, at) => `${at}\n`).join('');
    const command = 'for n in $(seq 0 19999); do echo $n; [ $((n % 500)) -ne 0 ] || sleep 0.05; done';
    // A sandbox takes 64 calls at once.
    for (let at = 0; at < MANY; at++) await start(command, { tag: `many-${at}` });
    await Promise.all(
      Array.from({ length: MANY }, async (_, at) => {
        let seen = '';
        for (let stay = 100 + 30 * (at % 7); ; stay *= 2) {
          const viewer = await follow(`many-${at}`, seen.length);
          expect(viewer.from).toBe(seen.length);
          const end = await Promise.race([viewer.over, sleep(stay)]);
          viewer.leave();
          await viewer.over;
          seen += viewer.text();
          if (!end) continue;
          expect(end).toEqual(ended(0));
          break;
        }
        expect(seen).toBe(numbers);
      }),
    );
  }, 180_000);
});

describe('a process', () => {
  it('reads its input until that is closed, byte for byte', async () => {
    await start('od -An -tx1', { tag: 'bytes' });
    const viewer = await follow('bytes');
    expect(await input('bytes', { input: '/wA=', encoding: 'base64' })).toMatchObject({ bytes_written: 2 });
    await input('bytes', { input: 'é', close_input: true });
    expect(await viewer.over).toEqual(ended(0));
    expect(viewer.text()).toBe(' ff 00 c3 a9\n');
    const more = { sandbox: 'box', process: 'bytes', input: 'x' };
    const refused = await act(service, 'SendProcessInput', more);
    expect(refused.body).toMatchObject({ code: 'failed_precondition' });
  });

  it('gets signals by name', async () => {
    await start('trap "echo hung up" HUP; echo ready; while :; do sleep 0.1; done', { tag: 'trapping' });
    const viewer = await follow('trapping');
    await viewer.until('ready\n');
    const signal = (name: string) =>
      act(service, 'SignalProcess', { sandbox: 'box', process: 'trapping', signal: name });
    await signal('HUP');
    await viewer.until('hung up\n');
    expect((await signal('NONE')).body).toMatchObject({ code: 'invalid_argument', parameter: 'signal' });
    await signal('KILL');
    expect(await viewer.over).toEqual(ended(137, { signal: 'SIGKILL' }));
    expect((await signal('TERM')).body).toMatchObject({ code: 'failed_precondition' });
  });

  it('is killed with all that it has started when its time is over, or when somebody ends it', async () => {
    const running = async (name: string) =>
      String(
        (await must(service, 'RunCommand', { command: `pgrep -fc '[s]leep ${name}' || true` }))['stdout'],
      );
    await start('sleep 7001 & setsid sleep 7001 & wait', { tag: 'late', timeout_seconds: 1 });
    const viewer = await follow('late');
    expect(await viewer.over).toMatchObject({ event: 'result', data: { timed_out: true } });
    await expect.poll(() => running('7001')).toBe('0\n');
    await start('sleep 7002 & setsid sleep 7002 & wait', { tag: 'ended' });
    // The shell is one of them.
    await expect.poll(() => running('7002')).toBe('3\n');
    const seen = await follow('ended');
    await mustAct(service, 'EndProcess', { sandbox: 'box', process: 'ended' });
    expect(await seen.over).toMatchObject({ event: 'result', data: { timed_out: false } });
    expect(await running('7002')).toBe('0\n');
    const gone = await act(service, 'EndProcess', { sandbox: 'box', process: 'ended' });
    expect(gone).toMatchObject({ status: 404, body: { resource: 'process' } });
  });

  it('has its tag for itself while it runs', async () => {
    await start('read go', { tag: 'one' });
    const again = { sandbox: 'box', command: 'true', tag: 'one' };
    expect(await act(service, 'StartProcess', again)).toMatchObject({
      ...{ status: 409 },
      body: { code: 'already_exists', parameter: 'tag' },
    });
    await input('one', { close_input: true });
    await expect.poll(async () => (await list())[0]?.status).toBe('ended');
    await start('read go', { tag: 'one' });
    expect((await list()).map(({ tag, status }) => [tag, status])).toEqual([
      ['one', 'ended'],
      ['one', 'running'],
    ]);
  });

  it('has a terminal that is resized', async () => {
    const started = await start('stty size; read go; stty size; [ -t 1 ] && echo "$TERM" >&2', {
      ...{ tag: 'screen', cols: 132, rows: 43 },
    });
    expect(started).toMatchObject({ cols: 132, rows: 43 });
    const viewer = await follow('screen');
    await viewer.until('43 132\r\n');
    await mustAct(service, 'ResizeProcess', { sandbox: 'box', process: 'screen', cols: 100, rows: 30 });
    await input('screen', { input: 'go\r' });
    expect(await viewer.over).toEqual(ended(0));
    expect(viewer.text('stdout')).toContain('30 100\r\nxterm-256color\r\n');
    expect(await list()).toMatchObject([{ cols: 100, rows: 30 }]);
    await start('read go', { tag: 'plain' });
    const resize = { sandbox: 'box', process: 'plain', cols: 80, rows: 24 };
    expect((await act(service, 'ResizeProcess', resize)).body).toMatchObject({ code: 'failed_precondition' });
  });

  it('belongs to its user, in a folder of the user', async () => {
    await start('id -un; pwd; echo "$HOME $A"', { tag: 'hers', user: 'ann', env: { A: 'b' } });
    const viewer = await follow('hers');
    expect(await viewer.over).toEqual(ended(0));
    expect(viewer.text()).toBe('ann\n/home/ann\n/home/ann b\n');
    const missing = { sandbox: 'box', command: 'pwd', cwd: '/nowhere' };
    expect(await act(service, 'StartProcess', missing)).toMatchObject({
      ...{ status: 404 },
      body: { parameter: 'cwd' },
    });
  });

  it('ends with its sandbox, and its viewers hear why', async () => {
    await must(service, 'CreateSandbox', { name: 'other', memory_gb: 1, disk_gb: 1 });
    await mustAct(service, 'StartProcess', { sandbox: 'other', command: 'sleep 1000', tag: 'web' });
    const response = await fetch(`${service.url}/v1/sandboxes/other/processes/web/output`, {
      headers: { authorization: `Bearer ${service.apiKey}` },
    });
    const over = read(response, () => {});
    await must(service, 'StopSandbox', { sandbox: 'other' });
    expect(await over).toMatchObject({ event: 'error', data: { code: 'invalid_state' } });
    await must(service, 'StartSandbox', { sandbox: 'other' });
    expect(await mustAct(service, 'ListProcesses', { sandbox: 'other' })).toEqual({ processes: [] });
    await must(service, 'DeleteSandbox', { sandbox: 'other' });
  }, 60_000);
});
