/** What programs print appears on the terminal while they run, each byte once. */
import { setTimeout as sleep } from 'node:timers/promises';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { LivePiece } from '../../../src/control/ports/index.ts';
import { LiveText } from '../../../src/surfaces/cli/live-text.ts';
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

const out = (text: string, leftOutBytes = 0): LivePiece => ({ stream: 'stdout', text, leftOutBytes });
const err = (text: string, leftOutBytes = 0): LivePiece => ({ stream: 'stderr', text, leftOutBytes });

/** Programs show these pieces and then end so. */
function programs(pieces: LivePiece[], stdout: string, ending?: Ending): void {
  const show = async (live?: (piece: LivePiece) => void) => {
    for (const piece of pieces) live?.(piece);
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
    programs([out('a\n'), out('d', 2)], 'a\nc\nd');
    expect(await cli(['run', 'code'])).toEqual({ code: 0, stdout: 'a\nc\nd', stderr: '' });
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
    for (const pieces of [[], [out('no newline')], [out('no '), out('', 7)]]) {
      programs(pieces, 'no newline');
      expect((await cli(command)).stdout).toBe('no newline\n');
    }
  });

  it('of a session prints its output while it comes', async () => {
    programs([out('a\n')], 'a\nb\n');
    const session = ['call', 'Sandbox.RunSessionCommand', '--session-id', 's', '--command', 'make'];
    expect(await cli(session)).toEqual({ code: 0, stdout: 'a\nb\n', stderr: '' });
  });

  it('prints the result alone with --json', async () => {
    programs([out('a\n')], 'a\n');
    const { stdout } = await cli([...command, '--json']);
    expect(JSON.parse(stdout)).toMatchObject({ output: 'a\n' });
  });
});

describe('a text that is printed while it comes', () => {
  const MEGABYTE = 'x'.repeat(1_048_576);

  function printedOf(pieces: LivePiece[], whole: string, output = whole): string {
    let printed = '';
    const text = new LiveText((part) => {
      printed += part;
    });
    for (const piece of pieces) text.show(piece);
    text.finish(whole, output);
    return printed;
  }

  it('waits after a gap for the result, which has what is missing', () => {
    expect(printedOf([out('a'), out('c', 1), out('d')], 'abcd')).toBe('abcd');
  });

  it('goes on after a gap that the result has too, and names it', () => {
    const pieces = [out(MEGABYTE), out('more'), out('end', 9)];
    expect(printedOf(pieces, 'head\n[… 99 bytes left out …]\nend')).toBe(
      `${MEGABYTE}more\n[… 9 bytes left out …]\nend`,
    );
  });

  it('that is longer than the result is not cut', () => {
    const cut = 'head\n[… 99 bytes left out …]\ntail';
    expect(printedOf([out(MEGABYTE), out('tail')], `${cut}\n[exit code 1]\n`, cut)).toBe(
      `${MEGABYTE}tail\n[exit code 1]\n`,
    );
  });

  it('names what is missing at its end', () => {
    expect(printedOf([out(MEGABYTE), out('', 50)], 'cut')).toBe(`${MEGABYTE}\n[… 50 bytes left out …]\n`);
  });
});
