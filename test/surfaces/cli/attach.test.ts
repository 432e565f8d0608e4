/** `sandhaven attach`: keys there, bytes back, and the local terminal as it was afterwards. */
import { PassThrough } from 'node:stream';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import type { Services } from '../../../src/control/services.ts';
import { SandhavenError } from '../../../src/model/errors.ts';
import { LineFeeds } from '../../../src/surfaces/cli/attach/attachment.ts';
import { DetachKeys, parseDetachKeys } from '../../../src/surfaces/cli/attach/local-terminal.ts';
import { runCli } from '../../../src/surfaces/cli/commands/cli.ts';
import type { CliIo } from '../../../src/surfaces/cli/io.ts';
import { API_KEY, createFakeServices } from '../fakes/fake-services.ts';
import { type FakeView, fakeTerminals } from '../fakes/fake-terminals.ts';
import { type Harness, startHttp } from '../http/http-harness.ts';
import { cliFor } from './cli-harness.ts';

let http: Harness;
let views: FakeView[];

beforeEach(async () => {
  views = [];
  const terminals = fakeTerminals((view) => void views.push(view));
  http = await startHttp({ services: { ...createFakeServices().services, terminals } as Services });
});

afterEach(() => http.close());

const last = () => views.at(-1) as FakeView;

/** A command in a terminal of this test's. */
function start(...args: string[]) {
  const modes: boolean[] = [];
  const stdin = Object.assign(new PassThrough(), {
    isTTY: true,
    setRawMode: (raw: boolean) => modes.push(raw),
  });
  const stdout = Object.assign(new PassThrough(), { isTTY: true, columns: 132, rows: 43 });
  const stderr = new PassThrough();
  const seen = { stdout: '', stderr: '' };
  stdout.on('data', (bytes) => {
    seen.stdout += bytes;
  });
  stderr.on('data', (bytes) => {
    seen.stderr += bytes;
  });
  const interrupt = new AbortController();
  const env = { SANDBOX_API_URL: http.url, SANDBOX_API_KEY: API_KEY };
  const io: CliIo = { stdin, stdout, stderr, env, signal: interrupt.signal };
  const code = runCli(['attach', ...args], io, { version: '1.2.3' });
  return { code, modes, stdin, stdout, seen, interrupt };
}

async function attached(...args: string[]) {
  const running = start(...(args.length > 0 ? args : ['box']));
  await expect.poll(() => running.modes).toEqual([true]);
  return running;
}

describe('sandhaven attach', () => {
  it('opens the terminal in the size of the local one', async () => {
    const { code } = await attached('box', '--terminal', 'build', '--cwd', 'src', '-u', 'ann');
    expect(last().request).toEqual({
      ...{ terminalId: 'build', size: { columns: 132, rows: 43 }, create: true, cwd: 'src', user: 'ann' },
    });
    last().end(0);
    expect(await code).toBe(0);
  });

  it('names on standard error, at its end, what it was too slow to show', async () => {
    const { code, seen } = await attached();
    last().sink?.skipped(300);
    last().sink?.data(Buffer.from('later'));
    last().sink?.skipped(12);
    await expect.poll(() => seen.stdout).toBe('later');
    expect(seen.stderr).toBe('');
    last().end(0);
    await code;
    expect(seen.stderr).toContain('312 bytes of the output are missing');
  });

  it('carries keys and bytes as they are, and ends with the status of the shell', async () => {
    const { code, modes, stdin, seen } = await attached();
    const typed: Buffer[] = [];
    last().input.on('data', (bytes) => typed.push(bytes));
    stdin.write(Buffer.from([3, 0xff, 13]));
    await expect.poll(() => Buffer.concat(typed)).toEqual(Buffer.from([3, 0xff, 13]));
    last().sink?.data(Buffer.from('\x1b[?1049hpicture'));
    await expect.poll(() => seen.stdout).toBe('\x1b[?1049hpicture');
    last().end(7);
    expect(await code).toBe(7);
    expect(modes).toEqual([true, false]);
    const after = seen.stdout.slice('\x1b[?1049hpicture'.length);
    for (const mode of ['\x1b[?1047l', '\x1b[?25h', '\x1b[?2004l', '\x1b[?1000l'])
      expect(after).toContain(mode);
  });

  it('passes on each size of the window', async () => {
    const { code, stdout } = await attached();
    Object.assign(stdout, { columns: 100, rows: 30 });
    stdout.emit('resize');
    await expect.poll(() => last().sizes).toEqual([{ columns: 100, rows: 30 }]);
    last().end(0);
    await code;
  });

  it('is left with ctrl-p ctrl-q, which the terminal never sees', async () => {
    const { code, modes, stdin, seen } = await attached();
    const typed: Buffer[] = [];
    last().input.on('data', (bytes) => typed.push(bytes));
    stdin.write(Buffer.from([0x61, 0x10, 0x62, 0x10]));
    stdin.write(Buffer.from([0x11, 0x63]));
    expect(await code).toBe(0);
    expect(modes).toEqual([true, false]);
    expect(seen.stderr).toBe("Detached from terminal 'main' of 'box', which keeps running.\n");
    await expect.poll(() => last().detached).toBe(true);
    expect(Buffer.concat(typed)).toEqual(Buffer.from([0x61, 0x10, 0x62]));
  });

  it('restores the terminal at an interrupt, at an error, and when the service goes', async () => {
    const interrupted = await attached();
    interrupted.interrupt.abort();
    expect(await interrupted.code).toBe(130);
    expect(interrupted.modes).toEqual([true, false]);

    const failed = await attached();
    last().fail(new SandhavenError('invalid_state', 'The sandbox was stopped.', { hint: 'Start it.' }));
    expect(await failed.code).toBe(5);
    expect(failed.modes).toEqual([true, false]);
    expect(failed.seen.stderr).toBe('Invalid state: The sandbox was stopped.\nHint: Start it.\n');

    const lost = await attached();
    await http.stop();
    expect(await lost.code).toBe(7);
    expect(lost.modes).toEqual([true, false]);
    expect(lost.seen.stderr).toMatch(/ended with code 1001, The service is stopping\.\nHint: Attach again/);
  });

  it('shows a refusal, and touches the terminal for none', async () => {
    const { code, modes, seen } = start('nope');
    expect(await code).toBe(4);
    expect(seen.stderr).toContain("There is no sandbox 'nope'.");
    expect(modes).toEqual([]);
    await http.stop();
    const gone = start('box');
    expect(await gone.code).toBe(7);
    expect(gone.seen.stderr).toContain('cannot be reached');
  });

  it('says what it needs', async () => {
    const cli = cliFor(http.url);
    const piped = await cli(['attach', 'box'], { stdin: 'ls\n' });
    expect(piped.code).toBe(5);
    expect(piped.stderr).toMatch(/are not a terminal\.\nHint: .*Sandbox\.RunCommand/);
    expect((await cli(['attach'])).code).toBe(2);
    expect((await cli(['attach', 'a', 'b'])).code).toBe(2);
    expect((await cli(['attach', 'a', '--detach-keys', 'meta-x'])).stderr).toContain(
      "'meta-x' cannot be a detach key",
    );
    expect((await cli(['attach', '--help'])).stdout).toMatch(/^Usage: sandhaven attach SANDBOX/);
  });
});

it('line feeds stay what they are in a raw mode that adds returns', () => {
  const translated = (...pieces: string[]) => {
    const feeds = new LineFeeds();
    return pieces.map((piece) => feeds.translate(Buffer.from(piece)).toString());
  };
  expect(translated('a\r\nb')).toEqual(['a\r\nb']);
  expect(translated('a\nb\n\n')).toEqual(['a\x1bDb\x1bD\x1bD']);
  expect(translated('a\r', '\n\nb', '\n')).toEqual(['a\r', '\n\x1bDb', '\x1bD']);
});

describe('keys to detach', () => {
  it.each([
    ['ctrl-p,ctrl-q', [0x10, 0x11]],
    ['ctrl-],d', [0x1d, 0x64]],
    ['CTRL-A', [0x01]],
    ['none', []],
  ])('%s', (text, bytes) => {
    expect([...parseDetachKeys(text)]).toEqual(bytes);
  });

  it.each(['', 'ctrl-', 'ctrl-1', 'esc', 'a,,b', 'a,b,c,d,e,f,g,h,i'])('not %j', (text) => {
    expect(() => parseDetachKeys(text)).toThrow(SandhavenError);
  });

  it('are found wherever pieces are cut, and what only begins like them goes on', () => {
    const feed = (...pieces: string[]) => {
      const keys = new DetachKeys(Buffer.from('PQ'));
      const results = pieces.map((piece) => keys.typed(Buffer.from(piece)));
      return [results.map(({ pass }) => String(pass)), results.some(({ detach }) => detach)];
    };
    expect(feed('aP', 'Qb')).toEqual([['a', ''], true]);
    expect(feed('aPb', 'P', 'P', 'Q')).toEqual([['aPb', '', 'P', ''], true]);
    expect(feed('PxQ')).toEqual([['PxQ'], false]);
    const none = new DetachKeys(Buffer.alloc(0));
    expect(none.typed(Buffer.from([0x10, 0x11]))).toEqual({ pass: Buffer.from([0x10, 0x11]), detach: false });
  });
});
