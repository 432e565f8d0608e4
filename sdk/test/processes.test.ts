/** Processes that go on without their client, against a service that answers as scripted. */
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { type OutputPiece, type Process, type SandboxHandle, Sandhaven } from '../src/index.ts';
import { broken, events, problem, result, ScriptedService, silent } from './scripted-service.ts';

let service: ScriptedService;
let box: SandboxHandle;
let web: Process;

beforeEach(async () => {
  service = new ScriptedService();
  await service.listen();
  box = new Sandhaven({ url: service.url, apiKey: 'key', maxRetries: 1 }).sandbox('my box');
  web = box.processes.get('web');
});

afterEach(() => service.close());

const sent = () => service.asked.map(({ path, body }) => [path, body === '' ? '' : JSON.parse(body)]);
const asked = () => service.asked.map(({ path }) => path.replace('/v1/sandboxes/my%20box/processes/', ''));

const event = (name: string, data: object) => `event: ${name}\ndata: ${JSON.stringify(data)}\n\n`;
const begin = (from: number) => event('begin', { from });
const output = (bytes: string | Buffer, stream = 'stdout') =>
  event('output', { stream, base64: Buffer.from(bytes).toString('base64') });
const ended = { exit_code: 3, signal: null, timed_out: false };
const end = event('result', ended);

it('are started, listed and found', async () => {
  service.answers(result({ process: '120', pid: 120 }), result({ processes: [{ pid: 120 }] }));
  const options = {
    cwd: 'app',
    env: { A: 'b' },
    user: 'ann',
    tag: 'web',
    timeoutSeconds: 60,
    cols: 80,
    rows: 24,
  };
  const started = await box.processes.start('npm start', { ...options, timeoutMs: 9_000 });
  expect([started.id, started.pid]).toEqual(['120', 120]);
  expect(await box.processes.list()).toEqual([{ pid: 120 }]);
  expect([web.id, web.pid, box.processes.get(7).pid]).toEqual(['web', null, 7]);
  const { timeoutSeconds, ...rest } = options;
  expect(sent()).toEqual([
    ['/v1/admin/StartProcess', { sandbox: 'my box', command: 'npm start', ...rest, timeout_seconds: 60 }],
    ['/v1/admin/ListProcesses', { sandbox: 'my box' }],
  ]);
});

it('get input and signals, another size, and an end', async () => {
  const bytes = new Uint8Array([0, 255, 10]);
  service.answers(...Array.from({ length: 6 }, () => result({})));
  await web.write('yes\n');
  await web.write(bytes);
  await web.closeInput();
  await web.signal('TERM');
  await web.resize(80, 24);
  await web.end();
  const of = { sandbox: 'my box', process: 'web' };
  expect(sent()).toEqual([
    ['/v1/admin/SendProcessInput', { ...of, input: 'yes\n' }],
    ['/v1/admin/SendProcessInput', { ...of, input: 'AP8K', encoding: 'base64' }],
    ['/v1/admin/SendProcessInput', { ...of, input: '', close_input: true }],
    ['/v1/admin/SignalProcess', { ...of, signal: 'TERM' }],
    ['/v1/admin/ResizeProcess', { ...of, cols: 80, rows: 24 }],
    ['/v1/admin/EndProcess', of],
  ]);
});

describe('following', () => {
  it('hands on each stream until the end, which is the result', async () => {
    service.answers(
      events(begin(0), ': \n\n', output('a\n') + output('é', 'stderr'), event('later', {}), output('b'), end),
    );
    const seen: unknown[] = [];
    const outcome = await web.follow({
      onStdout: (text, leftOut) => seen.push(['stdout', text, leftOut]),
      onStderr: (text, leftOut) => seen.push(['stderr', text, leftOut]),
    });
    expect(outcome).toEqual(ended);
    expect(seen).toEqual([
      ['stdout', 'a\n', 0],
      ['stderr', 'é', 0],
      ['stdout', 'b', 0],
    ]);
    expect(service.asked).toMatchObject([{ method: 'GET', headers: { accept: 'text/event-stream' } }]);
    expect(asked()).toEqual(['web/output?from=0']);
  });

  it('waits for the end without listeners', async () => {
    service.answers(events(begin(0), output('a'), end));
    expect(await web.follow()).toEqual(ended);
  });

  it('goes on where it was after a break, an end and an error that passes, within a character', async () => {
    const [first, second] = [Buffer.from([0xe2, 0x82]), Buffer.from([0xac])];
    const cut = event('output', { stream: 'stdout', base64: 'AAAA' }).slice(0, -9);
    service.answers(
      events(begin(10), output(first), output('x', 'stderr'), cut),
      broken,
      events(event('error', { code: 'unavailable', status: 503, detail: 'It stops.', retryable: true })),
      events(begin(13), output(second)),
      events(begin(14), end),
    );
    const pieces: OutputPiece[] = [];
    const texts: string[] = [];
    const options = { from: 10, onOutput: (piece: OutputPiece) => pieces.push(piece) };
    expect(await web.follow({ ...options, onStdout: (text) => texts.push(text) })).toEqual(ended);
    expect(Buffer.concat(pieces.map(({ bytes }) => bytes))).toEqual(
      Buffer.concat([first, Buffer.from('x'), second]),
    );
    expect(texts).toEqual(['€']);
    expect(asked()).toEqual([10, 13, 13, 13, 14].map((from) => `web/output?from=${from}`));
  });

  it('counts what is forgotten before it begins, and between two connections', async () => {
    service.answers(events(begin(7), output('a')), events(begin(20), output('b'), output('c'), end));
    const seen: unknown[] = [];
    await web.follow({ onStdout: (text, leftOut) => seen.push([text, leftOut]) });
    expect(seen).toEqual([
      ['a', 7],
      ['b', 12],
      ['c', 0],
    ]);
  });

  it('ends with an error that no other attempt changes', async () => {
    service.answers(events(begin(0), event('error', { code: 'not_found', status: 404, detail: 'Gone.' })));
    await expect(web.follow()).rejects.toMatchObject({ code: 'not_found' });
    service.answers(problem('permission_denied', 403));
    await expect(web.follow()).rejects.toMatchObject({ code: 'permission_denied' });
  });

  it('tries no more often than a call before it has begun', async () => {
    service.answers(broken, broken);
    await expect(web.follow()).rejects.toMatchObject({ code: 'unavailable' });
    service.answers(events(': \n\n'), events());
    await expect(web.follow()).rejects.toMatchObject({ code: 'unavailable' });
    expect(service.asked).toHaveLength(4);
  });

  it('rejects with what a listener throws, once, and with the signal’s reason', async () => {
    service.answers(events(begin(0), output('a'), end));
    const fault = new Error('mine');
    const refuse = () => {
      throw fault;
    };
    await expect(web.follow({ onStdout: refuse })).rejects.toBe(fault);
    expect(service.asked).toHaveLength(1);
    const left = Promise.withResolvers<void>();
    service.answers(silent(left.resolve));
    await expect(web.follow({ signal: AbortSignal.timeout(200) })).rejects.toMatchObject({
      name: 'TimeoutError',
    });
    await left.promise;
  });

  it('reads no more while a listener works', async () => {
    service.answers(events(begin(0), output('a'), output('b'), end));
    const seen: string[] = [];
    await web.follow({
      onStdout: async (text) => {
        seen.push(`begun ${text}`);
        await new Promise((resolve) => setTimeout(resolve, 20));
        seen.push(text);
      },
    });
    expect(seen).toEqual(['begun a', 'a', 'begun b', 'b']);
  });
});
