/** What programs print appears on the terminal while they run, each byte once. */
import { PassThrough, Readable, Writable } from 'node:stream';
import { buffer } from 'node:stream/consumers';
import { setTimeout as sleep } from 'node:timers/promises';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { LiveOutput, LivePiece } from '../../../src/control/ports/index.ts';
import { ShownOutput } from '../../../src/surfaces/cli/output.ts';
import { type Ending, showing } from '../fakes/showing.ts';
import { type Harness, startHttp } from '../http/http-harness.ts';
import { cliFor } from './cli-harness.ts';

let http: Harness;
let cli: ReturnType<typeof cliFor>;

beforeAll(async () => {
  http = await startHttp();
  cli = cliFor(http.url);
});

afterAll(() => http.close());

const piece = (stream: LivePiece['stream'], content: string | Buffer, leftOutBytes: number): LivePiece => ({
  stream,
  bytes: Buffer.from(content),
  leftOutBytes,
});
const out = (content: string | Buffer, leftOutBytes = 0) => piece('stdout', content, leftOutBytes);
const err = (content: string | Buffer, leftOutBytes = 0) => piece('stderr', content, leftOutBytes);

/** Programs show these pieces and then end so. */
function programs(pieces: LivePiece[], stdout: string, ending?: Ending): void {
  const show = async (live?: LiveOutput) => {
    for (const piece of pieces) await live?.show(piece);
    await sleep(5);
  };
  showing(http.services, stdout, show, ending);
}

describe('sandhaven run', () => {
  it('prints each stream while it comes, and nothing twice', async () => {
    programs([out('a\n'), err('b\n'), out('c')], 'a\nc', { exitCode: 3, stderr: 'b\n' });
    expect(await cli(['run', 'code'])).toEqual({ code: 3, stdout: 'a\nc', stderr: 'b\n' });
    expect(await cli(['run', '--', 'command'])).toEqual({ code: 3, stdout: 'a\nc', stderr: 'b\n' });
  });

  it('prints what did not come, as of an agent that shows nothing', async () => {
    programs([], 'a\nc', { exitCode: 0, stderr: 'b\n' });
    expect(await cli(['run', 'code'])).toEqual({ code: 0, stdout: 'a\nc', stderr: 'b\n' });
  });

  it('names on standard error what an earlier agent has left out, and nothing of it in the output', async () => {
    programs([out('a\n'), out('d', 2)], 'a\nc\nd');
    expect(await cli(['run', 'code'])).toEqual({
      code: 0,
      stdout: 'a\nd',
      stderr: '2 bytes of the output are missing: they came too fast to be kept.\n',
    });
  });

  it('prints no more than what came of output that the result has cut', async () => {
    const long = 'x'.repeat(2_000_000);
    programs([out(long)], 'xx\n[… 1999996 bytes left out …]\nxx');
    expect(await cli(['run', 'code'])).toEqual({ code: 0, stdout: long, stderr: '' });
  });

  it('prints the result alone with --json', async () => {
    programs([out('a\n')], 'a\n');
    const { stdout, stderr } = await cli(['run', 'code', '--json']);
    expect(JSON.parse(stdout)).toMatchObject({ stdout: 'a\n', exit_code: 0 });
    expect(stderr).toBe('');
  });
});

describe('sandhaven call', () => {
  const command = ['call', 'Sandbox.RunCommand', '--command', 'make'];

  it('prints both streams as they come, then the status', async () => {
    programs([out('a\n'), err('b\n')], 'a\n', { exitCode: 2, stderr: 'b\n' });
    const printed = 'a\nb\n[exit code 2]\n';
    expect(await cli(command)).toEqual({ code: 0, stdout: printed, stderr: '' });
    expect(await cli([...command, '--exit-code'])).toMatchObject({ code: 2, stdout: printed });
  });

  it('prints the same with and without live output', async () => {
    for (const pieces of [[], [out('no newline')], [out('no '), err('newline')]]) {
      programs(pieces, 'no newline');
      expect((await cli(command)).stdout).toBe('no newline\n');
    }
  });

  it('of a session prints its output while it comes', async () => {
    programs([out('a\n'), out('b\n')], 'a\nb\n');
    const session = ['call', 'Sandbox.RunSessionCommand', '--session-id', 's', '--command', 'make'];
    expect(await cli(session)).toEqual({ code: 0, stdout: 'a\nb\n', stderr: '' });
  });

  it('prints the result alone with --json', async () => {
    programs([out('a\n')], 'a\n');
    const { stdout } = await cli([...command, '--json']);
    expect(JSON.parse(stdout)).toMatchObject({ output: 'a\n' });
  });
});

describe('output on a stream of this process', () => {
  function shownOn(stdout: Writable, signal = new AbortController().signal): ShownOutput {
    return new ShownOutput({ stdin: Readable.from([]), stdout, stderr: new PassThrough(), env: {}, signal });
  }

  it('has the bytes of the program, none of them a character', async () => {
    const stdout = new PassThrough();
    const shown = shownOn(stdout);
    shown.show(out(Buffer.from([0xff, 0xe2, 0x82])));
    shown.show(out(Buffer.from([0xac, 0x00])));
    stdout.end();
    expect(await buffer(stdout)).toEqual(Buffer.from([0xff, 0xe2, 0x82, 0xac, 0x00]));
  });

  it('comes no faster than it is taken', async () => {
    let take = () => {};
    const stdout = new Writable({
      highWaterMark: 4,
      write(_chunk, _encoding, taken) {
        take = taken;
      },
    });
    const shown = shownOn(stdout);
    expect(shown.show(out('abc'))).toBeUndefined();
    const room = shown.show(out('def'));
    expect(await Promise.race([room, sleep(20, 'waits')])).toBe('waits');
    take();
    take();
    await room;
  });

  it('waits no longer once it is interrupted', async () => {
    const interrupt = new AbortController();
    const room = shownOn(new PassThrough({ highWaterMark: 1 }), interrupt.signal).show(out('abc'));
    interrupt.abort();
    expect(await room).toBeUndefined();
  });
});
