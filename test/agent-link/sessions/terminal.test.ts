/** Programs with a terminal. */
import type { Readable } from 'node:stream';
import { text } from 'node:stream/consumers';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type ScratchSandbox, startScratchSandbox } from '../scratch-sandbox.ts';

let sandbox: ScratchSandbox;
beforeAll(async () => {
  sandbox = await startScratchSandbox();
});
afterAll(() => sandbox[Symbol.asyncDispose]());

const ENV = {
  ...{ PATH: '/usr/bin:/bin', LANG: 'C.UTF-8', TERM: 'xterm' },
  ...{ PS1: '$ ', HOME: '/root', HISTFILE: '/tmp/history' },
};
const open = (argv: string[], terminal = { columns: 80, rows: 24 }) =>
  sandbox.agent.openProcess(sandbox.id, { argv, cwd: '.', env: ENV, terminal });
const bash = (command: string) => open(['bash', '-c', command]);

/** Reads on until the text has come. */
function reader(stream: Readable): (words: string | RegExp) => Promise<string> {
  let all = '';
  let look = () => {};
  stream.on('data', (chunk) => {
    all += chunk;
    look();
  });
  return (words) =>
    new Promise((resolve) => {
      look = () => {
        const match = typeof words === 'string' ? all.indexOf(words) : all.search(words);
        if (match < 0) return;
        const found = all;
        all = typeof words === 'string' ? all.slice(match + words.length) : '';
        resolve(found);
      };
      look();
    });
}

describe('a terminal', () => {
  it('is the controlling one, on all three descriptors, and all output comes as stdout', async () => {
    const program = await bash('tty; [ -t 0 ] && [ -t 1 ] && [ -t 2 ] && echo all > /dev/tty; echo err >&2');
    const [stdout, stderr] = await Promise.all([text(program.stdout), text(program.stderr)]);
    expect(stdout).toMatch(/^\/dev\/pts\/\d+\r\nall\r\nerr\r\n$/);
    expect(stderr).toBe('');
    expect(await program.ended).toEqual({ exitCode: 0, signal: null });
  });

  it('has the size that it is given, and that it is given later', async () => {
    const program = await open(
      ['bash', '-c', 'stty size; trap "stty size; exit 3" WINCH; echo up; while :; do sleep 0.05; done'],
      { columns: 132, rows: 43 },
    );
    const until = reader(program.stdout);
    expect(await until('up')).toContain('43 132\r\n');
    program.resize({ columns: 100_000, rows: Number.NaN });
    program.resize({ columns: 90, rows: 30 });
    await until(/(0 65535|30 90)\r\n/);
    expect(await program.ended).toMatchObject({ exitCode: 3 });
  });

  it('interrupts by signal and by ^C', async () => {
    for (const interrupt of ['signal', 'byte'] as const) {
      const program = await bash('cat > /dev/null');
      await expect.poll(async () => (await sandbox.sh('pgrep -x cat')).exitCode).toBe(0);
      if (interrupt === 'signal') program.signal('INT');
      else program.stdin.write('\x03');
      expect(await program.ended).toMatchObject({ exitCode: 130 });
    }
  });

  it('has job control in an interactive shell', async () => {
    const program = await open(['bash', '--norc', '--noprofile', '-i']);
    const until = reader(program.stdout);
    await until('$ ');
    program.stdin.write('sleep 3001\n');
    await expect.poll(async () => (await sandbox.sh('pgrep -fx "sleep 3001"')).exitCode).toBe(0);
    program.stdin.write('\x1a');
    expect(await until('Stopped')).not.toContain('no job control');
    program.stdin.write('jobs; kill %1; wait; echo $((40 + 2))\n');
    await until('42\r\n');
    // A signal goes to what is in the foreground, and the shell goes on.
    program.stdin.write('sleep 3002\n');
    await expect.poll(async () => (await sandbox.sh('pgrep -fx "sleep 3002"')).exitCode).toBe(0);
    program.signal('INT');
    program.stdin.write('echo after $?\n');
    await until('after 130');
    program.stdin.write('exit 9\n');
    expect(await program.ended).toEqual({ exitCode: 9, signal: null });
  });

  it('takes the end of input as nothing, and ^D as the end of a file', async () => {
    const program = await bash('cat; echo read');
    program.stdin.end('line\n\x04');
    expect(await text(program.stdout)).toBe('line\r\nline\r\nread\r\n');
    const idle = await bash('sleep 0.3; echo lives');
    idle.stdin.end();
    expect(await text(idle.stdout)).toBe('lives\r\n');
  });

  it('brings all of a large output', async () => {
    const program = await bash('seq 100000');
    expect((await text(program.stdout)).split('\r\n')).toHaveLength(100_001);
  });

  it('ends with its program though a background child keeps it open', async () => {
    const program = await bash('trap "" HUP; sleep 3003 & echo up');
    expect(await text(program.stdout)).toBe('up\r\n');
    expect((await sandbox.sh('pkill -fx "sleep 3003"')).exitCode).toBe(0);
  });

  it('is not blocked by what the program does not read', async () => {
    const program = await bash('echo up; sleep 0.5; echo down');
    const until = reader(program.stdout);
    await until('up');
    program.stdin.write(Buffer.alloc(1_000_000, 'x\n'));
    await until('down');
    expect(await program.ended).toMatchObject({ exitCode: 0 });
  });

  it('goes on after a program closes it and opens it again', async () => {
    const program = await bash(
      'for i in $(seq 300); do exec 0<&- 1>&- 2>&-; exec 0<>/dev/tty 1>&0 2>&0; done; echo again; read x; echo "got $x"',
    );
    const until = reader(program.stdout);
    await until('again');
    program.stdin.write('it\n');
    await until('got it');
    expect((await program.ended).exitCode).toBe(0);
  });

  it('is gone afterwards', async () => {
    const terminals = async () => (await sandbox.sh('ls /dev/pts | grep -c "^[0-9]"')).stdout;
    await expect.poll(terminals).toBe('0\n');
  });
});
