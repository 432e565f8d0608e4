/** Both ways to run a program to its end: as a child of this process, and by the spawner. */
import { execFileSync, spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, afterEach, describe, expect, it, vi } from 'vitest';
import { addElements, deleteElements } from '../../src/runtime/oci/network/netlink/changes.ts';
import { batch, type Message } from '../../src/runtime/oci/network/netlink/message.ts';
import { direct, type ProgramOptions, type Runner } from '../../src/runtime/programs/run-program.ts';
import { createSpawner } from '../../src/runtime/programs/spawner.ts';
import { launcherPath } from '../runtime/host.ts';

const spawner = createSpawner(launcherPath);
const folder = mkdtempSync(join(tmpdir(), 'sandhaven-programs-'));
afterEach(() => spawner.close());
afterAll(() => rmSync(folder, { recursive: true }));

const env = { PATH: '/usr/bin:/bin' };

function start(runner: Runner, file: string, args: string[], options: Partial<ProgramOptions> = {}) {
  const said = { stdout: '', stderr: '' };
  const running = runner.run(file, args, {
    env,
    onStdout: (piece) => {
      said.stdout += piece.toString('latin1');
    },
    onStderr: (piece) => {
      said.stderr += piece.toString('latin1');
    },
    ...options,
  });
  return { running, said, result: running.ended.then((end) => ({ ...end, ...said })) };
}

const shell = (runner: Runner, script: string, options?: Partial<ProgramOptions>) =>
  start(runner, 'sh', ['-c', script], options);

const until = (condition: () => boolean) => vi.waitUntil(condition, { timeout: 10_000, interval: 5 });

const lives = (pid: string): boolean => {
  // A process that nobody has waited for yet is over all the same.
  const stat = existsSync(`/proc/${pid}/stat`) ? readFileSync(`/proc/${pid}/stat`, 'utf8') : '';
  return stat !== '' && !stat.includes(') Z ');
};

describe.each([
  ['as a child of this process', direct],
  ['by the spawner', spawner],
])('a program that is run %s', (_, runner) => {
  it('the runner returns both streams of a program, and its end', async () => {
    const { result } = shell(runner, 'echo out; echo err >&2; exit 7');
    expect(await result).toEqual({ code: 7, signal: null, stdout: 'out\n', stderr: 'err\n' });
  });

  it('ends by a signal', async () => {
    expect(await shell(runner, 'kill -TERM $$').result).toMatchObject({ code: null, signal: 'SIGTERM' });
  });

  it('has said everything by its end', async () => {
    const { stdout } = await shell(runner, 'head -c 5000000 /dev/zero').result;
    expect(stdout.length).toBe(5_000_000);
  });

  it('reads all of its input, and need not', async () => {
    const input = 'é'.repeat(500_000);
    expect((await shell(runner, 'wc -c', { input }).result).stdout.trim()).toBe('1000000');
    expect(await shell(runner, 'exit 3', { input }).result).toMatchObject({ code: 3 });
    expect((await shell(runner, 'wc -c').result).stdout.trim()).toBe('0');
  });

  it('has the arguments and the environment that it is given, and no other', async () => {
    const { stdout } = await start(runner, '/usr/bin/env', ['-u', 'PATH', 'env'], {
      env: { ...env, A: 'b=c d', EMPTY: '' },
    }).result;
    expect(stdout.split('\n').sort()).toEqual(['', 'A=b=c d', 'EMPTY=']);
    expect((await start(runner, 'printf', ['%s|', 'a b', '', 'ü']).result).stdout).toBe(
      Buffer.from('a b||ü|').toString('latin1'),
    );
  });

  it.each([
    ['/does/not/exist', 'ENOENT'],
    ['does-not-exist', 'ENOENT'],
    ['/etc', 'EACCES'],
  ])('is not started where %s is no program', async (file, code) => {
    await expect(start(runner, file, []).result).rejects.toMatchObject({ code });
  });

  it('is ended with all that it started', async () => {
    const { running, said, result } = shell(runner, 'sleep 60 & echo $!; wait');
    await until(() => said.stdout.endsWith('\n'));
    running.kill();
    expect(await result).toMatchObject({ code: null, signal: 'SIGKILL' });
    await until(() => !lives(said.stdout.trim()));
    running.kill();
  });

  it('is ended also while what it left behind holds its streams', async () => {
    const { running, said, result } = shell(runner, 'sleep 60 & echo $$');
    await until(() => said.stdout.endsWith('\n'));
    await until(() => !lives(said.stdout.trim()));
    running.kill();
    expect(await result).toMatchObject({ code: 0 });
  });

  it('is one of many', async () => {
    const results = Array.from({ length: 60 }, (__, index) => shell(runner, `echo ${index}`).result);
    const lines = (await Promise.all(results)).map(({ stdout }) => stdout.trim());
    expect(lines).toEqual(Array.from({ length: 60 }, (__, index) => String(index)));
  });
});

describe('the spawner', () => {
  const pidOf = async (): Promise<number> => Number((await shell(spawner, 'echo $PPID').result).stdout);

  it('is one process, and not this one', async () => {
    const pid = await pidOf();
    expect(pid).not.toBe(process.pid);
    expect(await pidOf()).toBe(pid);
  });

  it('is replaced when it has ended, and what it ran is taken for failed', async () => {
    const pid = await pidOf();
    const { said, result } = shell(spawner, 'echo $$; exec sleep 60');
    await until(() => said.stdout.endsWith('\n'));
    process.kill(pid, 'SIGKILL');
    await expect(result).rejects.toThrow('the process that starts programs has ended');
    process.kill(Number(said.stdout), 'SIGKILL');
    expect(await pidOf()).not.toBe(pid);
  });

  it('goes on after an input that is too long for it', async () => {
    expect(() => shell(spawner, 'cat', { input: 'x'.repeat(17 * 1024 ** 2) })).toThrow('too long');
    expect(() => start(spawner, 'cat', ['a\0b'])).toThrow('zero byte');
    expect(await shell(spawner, 'true').result).toMatchObject({ code: 0 });
  });

  it('cannot be started where its program is missing, and the next call tries again', async () => {
    const missing = createSpawner(join(folder, 'launcher'));
    await expect(shell(missing, 'true').result).rejects.toMatchObject({ code: 'ENOENT' });
    writeFileSync(join(folder, 'launcher'), `#!/bin/sh\nexec ${launcherPath} "$@"\n`, { mode: 0o755 });
    expect(await shell(missing, 'true').result).toMatchObject({ code: 0 });
    missing.close();
  });

  it('keeps nobody from ending, and ends with who started it', async () => {
    const program = `
      import { createSpawner } from '${new URL('../../src/runtime/programs/spawner.ts', import.meta.url).pathname}';
      const spawner = createSpawner('${launcherPath}');
      const onStdout = (piece) => process.stdout.write(piece);
      await spawner.run('sh', ['-c', 'echo $PPID'], { env: process.env, onStdout, onStderr() {} }).ended;
    `;
    const node = ['--input-type=module', '--disable-warning=ExperimentalWarning', '-e', program];
    const { code, stdout } = await start(direct, process.execPath, node).result;
    expect([code, stdout]).toEqual([0, expect.stringMatching(/^\d+\n$/)]);
    await until(() => !lives(stdout.trim()));
  });
});

describe('the spawner', () => {
  /** nft in a network namespace of the test's own. */
  const nft = (net: string, ...args: string[]) =>
    execFileSync('nsenter', [`--net=${net}`, 'nft', ...args]).toString();

  it('changes sets of the firewall without a program: all of a batch, or nothing', async () => {
    const holder = spawn('unshare', ['--net', 'sh', '-c', 'echo ready; exec cat >/dev/null']);
    await once(holder.stdout, 'data');
    const net = `/proc/${holder.pid}/ns/net`;
    const inside = join(folder, 'launcher-inside');
    writeFileSync(inside, `#!/bin/sh\nexec nsenter --net=${net} ${launcherPath} "$@"\n`, { mode: 0o755 });
    const there = createSpawner(inside);
    try {
      const sets = 'set one { type ipv4_addr; }; set other { type ipv4_addr; elements = { 10.213.0.7 }; };';
      nft(net, `add table inet t { ${sets} }`);
      const key = (last: number) => [{ key: Buffer.of(10, 213, 0, last) }];
      const add = (name: string, last: number, table = 't') => addElements({ table, name }, key(last));
      const remove = (name: string, last: number) => deleteElements({ table: 't', name }, key(last));
      const apply = (...messages: Message[][]) => there.netfilter(batch(messages.flat()));
      expect(await apply(add('one', 5), remove('other', 7))).toEqual(Buffer.alloc(0));
      expect(nft(net, 'list', 'set', 'inet', 't', 'one')).toContain('elements = { 10.213.0.5 }');
      expect(nft(net, 'list', 'set', 'inet', 't', 'other')).not.toContain('elements');
      await apply(add('one', 5));
      await expect(apply(add('other', 8), remove('one', 99))).rejects.toMatchObject({ code: 'ENOENT' });
      expect(nft(net, 'list', 'set', 'inet', 't', 'other')).not.toContain('elements');
      await expect(there.netfilter(Buffer.alloc(20))).rejects.toThrow();
      await expect(apply(add('one', 5, 'no'))).rejects.toMatchObject({ code: 'ENOENT' });
      const many = Array.from({ length: 40_000 }, (_, i) => ({ key: Buffer.of(10, 214, i >> 8, i & 0xff) }));
      await apply(addElements({ table: 't', name: 'one' }, many));
      expect(nft(net, '-j', 'list', 'set', 'inet', 't', 'one').split('10.214.').length - 1).toBe(40_000);
    } finally {
      there.close();
      holder.stdin.end();
    }
  });
});
