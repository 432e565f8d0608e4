import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type ScratchSandbox, startScratchSandbox } from './scratch-sandbox.ts';

const COMMAND_BYTES = 127 * 1024;
const ENV_VALUE_BYTES = 64 * 1024;
const OUTPUT_BYTES = 1024 * 1024;

let sandbox: ScratchSandbox;
beforeAll(async () => {
  sandbox = await startScratchSandbox();
});
afterAll(() => sandbox[Symbol.asyncDispose]());

const sh: ScratchSandbox['sh'] = (...parameters) => sandbox.sh(...parameters);
const exec = (argv: string[], extra: { cwd?: string; env?: Record<string, string> } = {}) =>
  sandbox.agent.exec(sandbox.id, { argv, cwd: '.', env: {}, timeoutMs: 10_000, ...extra });
/** How many processes have these words in their command line. */
const count = async (words: string) => Number((await sh(`pgrep -fc '^${words}' || true`)).stdout);

async function msOf(work: Promise<unknown>): Promise<number> {
  const begun = performance.now();
  await work;
  return performance.now() - begun;
}

describe('a command', () => {
  it('[WIRE-EXEC-01] gives its streams, its exit code and how long it took', async () => {
    const result = await sh('printf out; printf err >&2; sleep 0.05; exit 3');
    expect(result).toMatchObject({
      stdout: 'out',
      stderr: 'err',
      output: 'outerr',
      exitCode: 3,
      timedOut: false,
      truncated: false,
    });
    expect(result.durationMs).toBeGreaterThanOrEqual(50);
  });

  it('[WIRE-EXEC-03] output is both streams in the order of the writes', async () => {
    const numbers = Array.from({ length: 100 }, (_, index) => index);
    const { output } = await sh('for i in $(seq 0 99); do echo o$i; echo e$i >&2; done');
    expect(output).toBe(numbers.map((i) => `o${i}\ne${i}\n`).join(''));
  });

  it('[WIRE-EXEC-04] has an empty standard input', async () => {
    expect((await sh('cat; readlink /proc/self/fd/0')).stdout).toBe('/dev/null\n');
  });

  it('has exactly the environment it is given, and no descriptor but three', async () => {
    const result = await exec(['env'], { env: { A: 'b=c\nd', PATH: '/usr/bin' } });
    expect(result.stdout).toBe('A=b=c\nd\nPATH=/usr/bin\n');
    expect((await exec(['ls', '/proc/self/fd'])).stdout).toBe('0\n1\n2\n3\n');
  });

  it('can be taken by the kernel when memory runs out, before the agent', async () => {
    expect((await sh('cat /proc/self/oom_score_adj /proc/1/oom_score_adj')).stdout).toBe('300\n0\n');
  });

  it('starts with the signals of the system', async () => {
    const { stdout } = await sh("grep -E '^Sig(Blk|Ign)' /proc/self/status");
    expect(stdout).toBe('SigBlk:\t0000000000000000\nSigIgn:\t0000000000000000\n');
    expect((await sh('yes | head -1; exit $PIPESTATUS')).exitCode).toBe(128 + 13);
  });

  it('[SBX-EXEC-02] runs in cwd, which starts at the sandbox root', async () => {
    await sh('mkdir -p sub/deep');
    expect((await sh('pwd')).stdout).toBe('/workspace\n');
    expect((await sh('pwd', { cwd: 'sub/deep' })).stdout).toBe('/workspace/sub/deep\n');
    expect((await sh('pwd', { cwd: '/usr' })).stdout).toBe('/usr\n');
  });

  it('[WIRE-EXEC-10] in a folder that is not there is not_found', async () => {
    await sh('touch file');
    for (const cwd of ['nowhere', 'file', 'file/sub']) {
      await expect(sh('true', { cwd })).rejects.toMatchObject({
        code: 'not_found',
        fields: { parameter: 'cwd' },
      });
    }
  });

  it('[WIRE-EXEC-14] fails with failed_precondition when its program is missing or cannot run', async () => {
    await sh('touch plain; printf "#!/no/such\\n" > script; chmod +x script');
    for (const program of ['nowhere', './plain', './script', '/workspace']) {
      await expect(exec([program], { env: { PATH: '/usr/bin' } })).rejects.toMatchObject({
        code: 'failed_precondition',
        fields: { resource: 'interpreter' },
      });
    }
  });

  it('[WIRE-EXEC-08] has 128 plus the signal as its exit code when a signal ends it', async () => {
    expect((await sh('kill -9 $$')).exitCode).toBe(137);
    expect((await sh('kill -TERM $$')).exitCode).toBe(143);
  });

  it('with as much in it as its bounds allow arrives whole', async () => {
    const command = `#${'x'.repeat(COMMAND_BYTES - 100)}\nprintf %s "$V" | wc -c`;
    const V = '\u0001'.repeat(ENV_VALUE_BYTES - 10);
    const env = { PATH: '/usr/bin', V, W: V, X: V };
    expect((await exec(['bash', '-c', command], { env })).stdout).toBe(`${V.length}\n`);
  });
});

describe('output', () => {
  it('[WIRE-EXEC-09] of 500 MB keeps its first and last halves', async () => {
    const result = await sh('echo first; head -c 500000000 /dev/zero | tr "\\0" x; echo last', {
      timeoutMs: 60_000,
    });
    for (const text of [result.stdout, result.output]) {
      expect(text).toMatch(/^first\nx+\n\[… \d+ bytes left out …\]\nx+last\n$/);
      expect(Buffer.byteLength(text)).toBeLessThan(OUTPUT_BYTES + 256);
    }
    expect(result).toMatchObject({ exitCode: 0, truncated: true });
  });

  it('[WIRE-EXEC-09] of exactly the bound is kept whole', async () => {
    const result = await sh(`head -c ${OUTPUT_BYTES} /dev/zero | tr '\\0' x`);
    expect(result.stdout).toBe('x'.repeat(OUTPUT_BYTES));
    expect(result.truncated).toBe(false);
  });

  it('without end stops at the timeout', async () => {
    const result = await sh('yes', { timeoutMs: 500 });
    expect(result).toMatchObject({ exitCode: 124, timedOut: true, truncated: true });
    expect(result.stdout.startsWith('y\ny\n')).toBe(true);
  });

  it('may be closed by the command', async () => {
    expect(await sh('exec >&- 2>&-; sleep 0.1; exit 5')).toMatchObject({ exitCode: 5, output: '' });
  });

  it('comes as the bytes that were printed when they are asked for, up to the bound that is', async () => {
    const bytes = (command: string, outputBytes: number) =>
      sandbox.agent.execBytes(sandbox.id, {
        argv: ['sh', '-c', command],
        cwd: '.',
        env: {},
        timeoutMs: 10_000,
        outputBytes,
      });
    expect(await bytes("printf 'a\\377\\0b'; printf '\\376' >&2; exit 3", 100)).toEqual({
      stdout: Buffer.from('a\xff\0b', 'latin1'),
      stderr: Buffer.from('\xfe', 'latin1'),
      exitCode: 3,
      timedOut: false,
    });
    const whole = await bytes('head -c 3000000 /dev/zero', 3_000_000);
    expect(whole.stdout).toHaveLength(3_000_000);
    const cut = await bytes('head -c 3000000 /dev/zero', 2_000_000);
    expect(cut.stdout.length).toBeGreaterThan(2_000_000);
    expect(cut.stdout.subarray(0, 1_000_000).equals(Buffer.alloc(1_000_000))).toBe(true);
  });

  it('of bytes that are not UTF-8 comes with replacement characters', async () => {
    expect((await sh("printf 'a\\xffb'")).stdout).toBe('a\ufffdb');
  });

  it('includes the bytes written just before the end', async () => {
    for (let round = 0; round < 50; round++) {
      expect((await sh('echo a; echo b >&2; echo c')).output).toBe('a\nb\nc\n');
    }
  });
});

describe('background children', () => {
  it('[WIRE-EXEC-05] live on when the command ends, and may go on printing', async () => {
    const result = await sh('(until [ -e go ]; do echo on; sleep 0.05; done; touch survived) & echo up');
    expect(result).toMatchObject({ exitCode: 0 });
    expect(result.stdout).toContain('up\n');
    // It waits for this alone: the answer did not wait for it.
    await sh('touch go');
    await expect.poll(async () => (await sh('ls survived')).exitCode, { timeout: 5_000 }).toBe(0);
  });

  it('[WIRE-EXEC-05] delay no later command when they print without end', async () => {
    await using quiet = await startScratchSandbox();
    await sh('yes endless & :');
    const ms = { beside: 0, quiet: 0 };
    // In turns: what else the host does delays both.
    for (let round = 0; round < 20; round++) {
      ms.beside += await msOf(sh('true'));
      ms.quiet += await msOf(quiet.sh('true'));
    }
    expect(ms.beside).toBeLessThan(3 * ms.quiet);
    // The shell's child may still be on its way to become it.
    await expect.poll(async () => (await sh('pkill yes')).exitCode).toBe(0);
  });

  it('are reaped when they end', async () => {
    await sh('for i in $(seq 50); do (setsid true &) ; done');
    await expect.poll(async () => (await sh("ps -eo stat | grep -c '^Z'")).stdout).toBe('0\n');
  });
});

describe('the process tree of a command', () => {
  const tree = (mark: string) =>
    `sleep ${mark} & setsid sleep ${mark} & (setsid sh -c 'sleep ${mark} & sleep ${mark}' &) ; ` +
    `nohup sleep ${mark} & (trap "" TERM; exec sleep ${mark}) & sleep ${mark}`;

  it('[WIRE-EXEC-06] ends at the timeout, and the output until then is returned', async () => {
    const result = await sh(`echo begun; ${tree('1001')}`, { timeoutMs: 300 });
    expect(result).toMatchObject({ exitCode: 124, timedOut: true, stdout: 'begun\n' });
    expect(result.durationMs).toBeLessThan(1_500);
    expect(await count('sleep 1001')).toBe(0);
  });

  it('ends when the host cancels', async () => {
    const controller = new AbortController();
    const cancelled = expect(sh(tree('1002'), { signal: controller.signal })).rejects.toThrow('enough');
    await expect.poll(() => count('sleep 1002')).toBeGreaterThan(4);
    controller.abort(new Error('enough'));
    await cancelled;
    await expect.poll(() => count('sleep 1002')).toBe(0);
  });

  it('ends alone: processes of an earlier command go on', async () => {
    await sh('sleep 1003 &');
    await sh('sleep 1004', { timeoutMs: 200 });
    expect(await count('sleep 1004')).toBe(0);
    expect(await count('sleep 1003')).toBe(1);
  });

  it('ends also when it has grown to hundreds', async () => {
    const result = await sh('for i in $(seq 300); do setsid sleep 1005 & done; wait', { timeoutMs: 1_500 });
    expect(result.timedOut).toBe(true);
    expect(await count('sleep 1005')).toBe(0);
  });
});

describe('a command that attacks', () => {
  it('its supervisor is followed to its own end', async () => {
    expect(await sh('kill -9 -1; sleep 0.1; echo here; exit 7')).toMatchObject({
      exitCode: 7,
      stdout: 'here\n',
    });
    const result = await sh('kill -9 -1; sleep 1006', { timeoutMs: 300 });
    expect(result).toMatchObject({ exitCode: 124, timedOut: true });
    await expect.poll(() => count('sleep 1006')).toBe(0);
  });

  it('the null device goes on as before', async () => {
    await sh('rm /dev/null 2>&1 || true');
    expect((await sh('cat; echo here')).stdout).toBe('here\n');
  });

  it('PID 1 with signals changes nothing', async () => {
    await sh('for signal in $(seq 1 31) $(seq 34 64); do kill -$signal 1; done');
    expect((await sh('echo well')).stdout).toBe('well\n');
  });
});

it('an entrypoint runs in the background, with its output discarded', async () => {
  await sandbox.agent.startBackground(sandbox.id, {
    argv: ['bash', '-c', 'echo noise; touch entered; sleep 1007'],
    cwd: '/tmp',
    env: { PATH: '/usr/bin' },
  });
  await expect.poll(() => count('sleep 1007')).toBe(1);
  expect((await sh('ls entered', { cwd: '/tmp' })).exitCode).toBe(0);
  await expect(
    sandbox.agent.startBackground(sandbox.id, { argv: ['/no/such'], cwd: '/', env: {} }),
  ).rejects.toMatchObject({ code: 'failed_precondition' });
});

it('many commands at once all come to their end', async () => {
  const results = await Promise.all(
    Array.from({ length: 60 }, (_, index) => sh(`sleep 0.1; echo ${index}`, { timeoutMs: 30_000 })),
  );
  expect(results.map(({ stdout }) => stdout)).toEqual(results.map((_, index) => `${index}\n`));
});
