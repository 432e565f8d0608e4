/** `sandhaven processes follow`: output as it comes, over several connections, and the status of the process. */
import { Readable, Writable } from 'node:stream';
import { setTimeout as sleep } from 'node:timers/promises';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { broken, events, problem, ScriptedService } from '../../../sdk/test/scripted-service.ts';
import { runCli } from '../../../src/surfaces/cli/commands/cli.ts';
import { cliFor } from './cli-harness.ts';

let service: ScriptedService;
let cli: ReturnType<typeof cliFor>;

beforeEach(async () => {
  service = new ScriptedService();
  await service.listen();
  cli = cliFor(service.url);
});

afterEach(() => service.close());

const FOLLOW = ['processes', 'follow', 'my box', 'web'];
const asked = () => service.asked.map(({ path }) => path);

const event = (name: string, data: object) => `event: ${name}\ndata: ${JSON.stringify(data)}\n\n`;
const begin = (from: number) => event('begin', { from });
const output = (text: string, stream = 'stdout') =>
  event('output', { stream, base64: Buffer.from(text).toString('base64') });
const end = (exit_code: number, more: object = {}) =>
  event('result', { exit_code, signal: null, timed_out: false, ...more });
const fault = (code: string, status: number) =>
  event('error', { code, status, title: code, detail: 'It is so.' });

describe('sandhaven processes follow', () => {
  it('prints each stream on its own, and exits with the status of the process', async () => {
    service.answers(events(begin(0), output('a\n'), `: \n\n${output('b\n', 'stderr')}`, output('c'), end(3)));
    expect(await cli(FOLLOW)).toEqual({ code: 3, stdout: 'a\nc', stderr: 'b\n' });
    expect(asked()).toEqual(['/v1/sandboxes/my%20box/processes/web/output?from=0']);
    expect(service.asked[0]?.headers).toMatchObject({
      accept: 'text/event-stream',
      authorization: /^Bearer /,
    });
  });

  it('exits with 128 and its number after a signal, and says that it was the timeout', async () => {
    service.answers(events(begin(0), end(137, { signal: 'SIGKILL', timed_out: true })));
    expect(await cli(FOLLOW)).toEqual({
      code: 137,
      stdout: '',
      stderr: 'The process was killed at its timeout.\n',
    });
  });

  it('begins at a byte, and says what is no longer kept', async () => {
    service.answers(events(begin(9), output('a'), end(0)));
    expect(await cli([...FOLLOW, '--from', '5'])).toEqual({
      ...{ code: 0, stdout: 'a' },
      stderr: '4 bytes before this are no longer kept.\n',
    });
    expect(asked()[0]).toMatch(/\?from=5$/);
  });

  it('goes on where it was after a break and a restart of the service, with each byte once', async () => {
    service.answers(
      events(begin(0), output('ab'), output('lost').slice(0, -9)),
      broken,
      events(begin(2), output('c'), fault('unavailable', 503)),
      events(begin(3), output('d'), end(0)),
    );
    expect(await cli(FOLLOW)).toEqual({ code: 0, stdout: 'abcd', stderr: '' });
    expect(asked().map((path) => path.split('?')[1])).toEqual(['from=0', 'from=2', 'from=2', 'from=3']);
  });

  it('prints events as lines with --json', async () => {
    service.answers(events(begin(4), output('a', 'stderr'), end(3)));
    const { code, stdout, stderr } = await cli([...FOLLOW, '--json']);
    expect({ code, stderr }).toEqual({ code: 3, stderr: '' });
    expect(
      stdout
        .trimEnd()
        .split('\n')
        .map((line) => JSON.parse(line)),
    ).toEqual([
      { event: 'begin', from: 4 },
      { event: 'output', stream: 'stderr', base64: 'YQ==' },
      { event: 'result', exit_code: 3, signal: null, timed_out: false },
    ]);
  });

  it('ends with the problem that there is, before it has begun also where nobody answers', async () => {
    service.answers(problem('not_found', 404), events(begin(0), fault('not_found', 404)), broken);
    expect(await cli(FOLLOW)).toMatchObject({ code: 4, stderr: expect.stringContaining('It is not_found.') });
    expect(await cli(FOLLOW)).toMatchObject({ code: 4, stderr: expect.stringContaining('It is so.') });
    expect(await cli(FOLLOW)).toMatchObject({ code: 7 });
    expect(service.asked).toHaveLength(3);
  });

  it('leaves a process that goes on at an interrupt, and says so', async () => {
    const interrupt = new AbortController();
    const left = Promise.withResolvers<void>();
    service.answers((response) => {
      response.once('close', left.resolve).writeHead(200, { 'content-type': 'text/event-stream' });
      response.write(begin(0) + output('a'));
    });
    expect(await cli(FOLLOW, { signal: interrupt.signal, printed: () => interrupt.abort() })).toEqual({
      ...{ code: 130, stdout: 'a' },
      stderr: "Process web of 'my box' goes on.\n",
    });
    await left.promise;
  });

  it('reads no faster than its output is read', async () => {
    const much = output('x'.repeat(128 * 1024));
    let sent = 0;
    service.answers(async (response) => {
      response.writeHead(200, { 'content-type': 'text/event-stream' });
      response.write(begin(0));
      for (; sent < 200; sent++) {
        if (!response.write(much)) await new Promise((resolve) => response.once('drain', resolve));
      }
      response.end(end(0));
    });
    let read = 0;
    let take = () => {};
    let isOpen = false;
    const stdout = new Writable({
      write(chunk: Buffer, _encoding, taken) {
        read += chunk.length;
        take = taken;
        if (isOpen) taken();
      },
    });
    const stderr = new Writable({ write: (_chunk, _encoding, taken) => taken() });
    const env = { SANDBOX_API_URL: service.url, SANDBOX_API_KEY: 'key' };
    const io = { stdin: Readable.from([]), stdout, stderr, env, signal: new AbortController().signal };
    const code = runCli(FOLLOW, io, { version: '1.2.3' });
    for (let before = -1; before !== sent; await sleep(300)) before = sent;
    expect(sent).toBeGreaterThan(0);
    expect(sent).toBeLessThan(200);
    isOpen = true;
    take();
    expect(await code).toBe(0);
    expect(read).toBe(200 * 128 * 1024);
  });

  it('needs a sandbox, a process, and a number', async () => {
    expect(await cli(['processes', 'follow', 'box'])).toMatchObject({ code: 2 });
    expect(await cli([...FOLLOW, 'more'])).toMatchObject({ code: 2 });
    expect(await cli([...FOLLOW, '--from', 'a'])).toMatchObject({ code: 2 });
    expect(service.asked).toEqual([]);
  });

  it('stands in the help of its group', async () => {
    const group = (await cli(['processes', '--help'])).stdout;
    for (const word of ['start', 'list', 'input', 'signal', 'resize', 'end', 'follow'])
      expect(group).toMatch(new RegExp(`^  sandhaven processes ${word} `, 'm'));
    expect((await cli([...FOLLOW, '--help'])).stdout).toMatch(
      /^Usage: sandhaven processes follow SANDBOX PROCESS/,
    );
    expect(await cli(['processes', 'folow'])).toMatchObject({
      stderr: expect.stringContaining('Did you mean `sandhaven processes follow`?'),
    });
  });
});
