/** Programs that run while the host talks with them. */
import { createHash } from 'node:crypto';
import { Readable } from 'node:stream';
import { buffer, text } from 'node:stream/consumers';
import { pipeline } from 'node:stream/promises';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { ProcessRequest, RunningProcess } from '../../src/control/ports/index.ts';
import { type ScratchSandbox, startScratchSandbox } from './scratch-sandbox.ts';

let sandbox: ScratchSandbox;
beforeAll(async () => {
  sandbox = await startScratchSandbox();
});
afterAll(() => sandbox[Symbol.asyncDispose]());

const ENV = { PATH: '/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin', LANG: 'C.UTF-8' };
const MB = 1_000_000;

const open = (argv: string[], more: Partial<ProcessRequest> = {}, signal?: AbortSignal) =>
  sandbox.agent.openProcess(sandbox.id, { argv, cwd: '.', env: ENV, ...more }, signal);
const bash = (command: string, more: Partial<ProcessRequest> = {}, signal?: AbortSignal) =>
  open(['bash', '-c', command], more, signal);
const count = async (words: string) => Number((await sandbox.sh(`pgrep -fc '^${words}' || true`)).stdout);
const finish = async (program: RunningProcess) => {
  const [stdout, stderr, end] = await Promise.all([
    text(program.stdout),
    text(program.stderr),
    program.ended,
  ]);
  return { stdout, stderr, ...end };
};
const run = async (command: string, input = '', more: Partial<ProcessRequest> = {}) => {
  const program = await bash(command, more);
  program.stdin.end(input);
  return finish(program);
};
/** The bytes of `megabytes` MB that never repeat, and their digest when they have been read. */
function flood(megabytes: number): { stream: Readable; digest: () => string } {
  const hash = createHash('sha256');
  const chunks = function* () {
    for (let index = 0; index < megabytes; index++) {
      const chunk = Buffer.alloc(MB, createHash('sha256').update(String(index)).digest());
      hash.update(chunk);
      yield chunk;
    }
  };
  return { stream: Readable.from(chunks()), digest: () => hash.digest('hex') };
}
/** Resolves once the text has come. */
async function seen(stream: Readable, words: string | RegExp): Promise<string> {
  let all = '';
  for await (const chunk of stream.iterator({ destroyOnReturn: false })) {
    all += chunk;
    if (typeof words === 'string' ? all.includes(words) : words.test(all)) return all;
  }
  throw new Error(`the output ended without ${words}: ${JSON.stringify(all)}`);
}

describe('a program', () => {
  it('reads what the host writes, and its two outputs come apart', async () => {
    expect(await run('read line; echo "got $line"; echo err >&2; cat; exit 3', 'one\ntwo\n')).toEqual({
      stdout: 'got one\ntwo\n',
      stderr: 'err\n',
      exitCode: 3,
      signal: null,
    });
  });

  it('answers while its input is open', async () => {
    const program = await open(['cat']);
    for (const line of ['first\n', 'second\n']) {
      program.stdin.write(line);
      await seen(program.stdout, line);
    }
    program.stdin.end();
    expect(await program.ended).toEqual({ exitCode: 0, signal: null });
  });

  it('gives exact exit codes, and the names of signals', async () => {
    for (const code of [0, 1, 127, 255]) {
      expect(await run(`exit ${code}`)).toMatchObject({ exitCode: code, signal: null });
    }
    for (const [name, number] of [
      ['KILL', 9],
      ['TERM', 15],
      ['SEGV', 11],
      ['USR1', 10],
    ]) {
      expect(await run(`kill -${name} $$`)).toMatchObject({
        exitCode: 128 + Number(number),
        signal: `SIG${name}`,
      });
    }
    expect(await run('exit 137')).toMatchObject({ exitCode: 137, signal: null });
  });

  it('has the working folder and the environment that it is given', async () => {
    const env = { PATH: '/usr/bin', A: 'é\n' };
    expect((await run('pwd; echo "$A"', '', { cwd: '/usr', env })).stdout).toBe('/usr\né\n\n');
    expect((await run('pwd')).stdout).toBe('/workspace\n');
  });

  it('is refused when it or its folder does not exist', async () => {
    for (const more of [{}, { terminal: { columns: 80, rows: 24 } }]) {
      await expect(open(['nowhere'], more)).rejects.toMatchObject({
        code: 'failed_precondition',
        fields: { resource: 'interpreter' },
      });
      await expect(open(['true'], { ...more, cwd: '/nowhere' })).rejects.toMatchObject({
        code: 'not_found',
        fields: { parameter: 'cwd' },
      });
    }
  });

  it('gets signals by name, in its whole group; unknown names are ignored', async () => {
    const program = await bash('trap "echo caught; exit 4" INT; sleep 60 & echo up; wait');
    await seen(program.stdout, 'up\n');
    program.signal('NOTHING');
    program.signal('x'.repeat(1_000));
    program.signal('INT');
    expect(await finish(program)).toMatchObject({ stdout: 'caught\n', exitCode: 4 });
    const killed = await open(['sleep', '60']);
    killed.signal('SIGKILL');
    expect(await killed.ended).toEqual({ exitCode: 137, signal: 'SIGKILL' });
  });

  it('is followed to its end when it kills everything else, its supervisor too', async () => {
    expect(await run('kill -9 -1; sleep 0.1; echo here; exit 7')).toMatchObject({
      stdout: 'here\n',
      exitCode: 7,
    });
  });

  it('many at once keep to their own streams', async () => {
    const results = await Promise.all(
      Array.from({ length: 40 }, (_, index) => run(`cat; exit ${index}`, `input ${index}`)),
    );
    expect(results).toEqual(
      results.map((_, index) => ({
        ...{ stdout: `input ${index}`, stderr: '' },
        ...{ exitCode: index, signal: null },
      })),
    );
  });
});

describe('much data', () => {
  it('arrives whole both ways at once', { timeout: 120_000 }, async () => {
    const { stream, digest } = flood(100);
    const program = await open(['cat']);
    const back = createHash('sha256');
    const [end] = await Promise.all([
      program.ended,
      pipeline(stream, program.stdin),
      pipeline(program.stdout, back),
    ]);
    expect(end.exitCode).toBe(0);
    expect(back.digest('hex')).toBe(digest());
  });

  it('is any bytes', async () => {
    const bytes = Buffer.from(Array.from({ length: 256 }, (_, value) => value));
    const program = await open(['cat']);
    program.stdin.end(bytes);
    expect(await buffer(program.stdout)).toEqual(bytes);
  });

  it('in many small writes keeps its order', { timeout: 60_000 }, async () => {
    const program = await open(['sha256sum']);
    const hash = createHash('sha256');
    for (let index = 0; index < 50_000; index++) {
      hash.update(`${index},`);
      program.stdin.write(`${index},`);
    }
    program.stdin.end();
    expect((await text(program.stdout)).slice(0, 64)).toBe(hash.digest('hex'));
  });

  it('blocks the program and fills no memory until the host reads it', { timeout: 60_000 }, async () => {
    const before = await agentKilobytes();
    const program = await bash('head -c 100000000 /dev/zero; echo done >&2');
    await sandbox.sh('sleep 0.5');
    expect((await agentKilobytes()) - before).toBeLessThan(2_000);
    expect(await count('head -c 100000000')).toBe(1);
    expect(program.stdout.readableLength).toBeLessThan(1 << 20);
    let length = 0;
    for await (const chunk of program.stdout) length += chunk.length;
    expect(length).toBe(1e8);
    expect(await text(program.stderr)).toBe('done\n');
  });

  it('of two outputs, one of which nobody wants, passes when that one is destroyed', async () => {
    const program = await bash('head -c 5000000 /dev/zero >&2; echo out');
    await sandbox.sh('sleep 0.1');
    program.stderr.destroy();
    expect(await text(program.stdout)).toBe('out\n');
  });
});

describe('input that the program does not read', () => {
  it('blocks neither output nor signals nor the end, and fills no memory', async () => {
    const before = await agentKilobytes();
    const program = await bash('trap "echo caught; exit 5" TERM; echo up; while :; do sleep 0.05; done');
    await seen(program.stdout, 'up');
    let written = 0;
    while (written < 4 * MB) {
      program.stdin.write(Buffer.alloc(100_000));
      written += 100_000;
    }
    await sandbox.sh('sleep 0.2');
    expect(program.stdin.writableLength).toBeGreaterThan(3 * MB);
    expect((await agentKilobytes()) - before).toBeLessThan(2_000);
    program.signal('TERM');
    expect(await finish(program)).toMatchObject({ stdout: 'caught\n', exitCode: 5 });
  });

  it('is let go when the program has closed it, or has ended', async () => {
    const closed = await bash('exec <&-; echo closed; sleep 0.3; echo well');
    await seen(closed.stdout, 'closed');
    await pipeline(Readable.from([Buffer.alloc(3 * MB)]), closed.stdin);
    expect(await finish(closed)).toMatchObject({ stdout: 'well\n', exitCode: 0 });
    const ended = await bash('exit 6');
    expect(await ended.ended).toMatchObject({ exitCode: 6 });
    await pipeline(Readable.from([Buffer.alloc(3 * MB)]), ended.stdin);
  });

  it('is let go also when the program ends in the middle of it', async () => {
    for (let round = 0; round < 20; round++) {
      const program = await bash('head -c 10; exit 7');
      const sent = pipeline(Readable.from([Buffer.alloc(2 * MB, 'x')]), program.stdin);
      expect(await finish(program)).toMatchObject({ stdout: 'xxxxxxxxxx', exitCode: 7 });
      await sent;
    }
  });
});

describe('the end', () => {
  it('brings all that the program has printed', async () => {
    for (let round = 0; round < 30; round++) {
      expect(await run('seq 20000; echo last >&2')).toMatchObject({ stderr: 'last\n' });
    }
    expect((await run('seq 20000')).stdout).toMatch(/\n20000\n$/);
  });

  it('does not wait for background children that keep the output open, and they live on', async () => {
    const program = await bash('(until [ -e go ]; do echo on; sleep 0.05; done; touch lived) & echo up');
    expect(await program.ended).toMatchObject({ exitCode: 0 });
    expect(await text(program.stdout)).toContain('up\n');
    // It waits for this alone: the end did not wait for it.
    await sandbox.sh('touch go');
    await expect.poll(async () => (await sandbox.sh('ls lived')).exitCode, { timeout: 10_000 }).toBe(0);
  });

  it('does not wait for a child that prints without end', async () => {
    const program = await bash('yes endless & exit 8');
    program.stdout.resume();
    expect(await program.ended).toMatchObject({ exitCode: 8 });
    expect((await sandbox.sh('pkill -x yes')).exitCode).toBe(0);
  });

  it('waits a moment for what a child prints last', async () => {
    // Once `cat` runs, all that is left to it is to pass the line on.
    const program = 'rm -f up; mkfifo up; exec > >(: > up; cat); : < up; echo through';
    for (let round = 0; round < 20; round++)
      expect(await run(program)).toMatchObject({ stdout: 'through\n' });
  });
});

describe('hanging up kills the whole tree', () => {
  const tree = (mark: string) =>
    `sleep ${mark} & setsid sleep ${mark} & (setsid sh -c 'sleep ${mark} & sleep ${mark}' &) ; ` +
    `nohup sleep ${mark} & (trap "" TERM HUP; exec sleep ${mark}) & echo up; sleep ${mark}`;
  const terminal = { columns: 80, rows: 24 };
  for (const [name, mark, more] of [
    ['of a program with pipes', '2001', {}],
    ['of a program with a terminal', '2002', { terminal }],
  ] as const) {
    it(name, async () => {
      const program = await bash(tree(mark), more);
      await seen(program.stdout, 'up');
      await expect.poll(() => count(`sleep ${mark}`)).toBeGreaterThan(5);
      program.close();
      await expect(program.ended).rejects.toMatchObject({ code: 'unavailable' });
      await expect.poll(() => count(`sleep ${mark}`)).toBe(0);
    });
  }

  it('also while the program is blocked on output that is not read', async () => {
    const controller = new AbortController();
    const program = await bash('yes; sleep 2003', {}, controller.signal);
    await expect.poll(() => count('yes')).toBe(1);
    controller.abort(new Error('enough'));
    await expect(program.ended).rejects.toThrow('enough');
    await expect.poll(() => count('yes')).toBe(0);
    expect(program.stdout.destroyed).toBe(true);
  });

  it('also before it runs', async () => {
    await expect(bash('sleep 2004', {}, AbortSignal.abort(new Error('never')))).rejects.toThrow('never');
    expect(await count('sleep 2004')).toBe(0);
  });
});

it('an agent that goes away leaves no one waiting', async () => {
  await using other = await startScratchSandbox();
  const program = await other.agent.openProcess(other.id, {
    ...{ argv: ['bash', '-c', 'trap "" TERM; echo up; sleep 60'], cwd: '/', env: ENV },
  });
  await seen(program.stdout, 'up');
  const outcome = expect(program.ended).rejects.toMatchObject({ code: 'unavailable' });
  await other.terminate();
  await outcome;
});

async function agentKilobytes(): Promise<number> {
  return Number((await sandbox.sh("awk '/^RssAnon/ { print $2 }' /proc/1/status")).stdout);
}
