import { readdirSync, readFileSync } from 'node:fs';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { call, must, type Service, startService } from '../support/service.ts';

/** How long another sandbox may take to answer while its neighbour is in trouble. */
const NEIGHBOUR_MS = 10_000;
let service: Service;

beforeAll(async () => {
  service = await startService();
  await must(service, 'CreateSandbox', { name: 'trouble', cpu: 1, memory_gb: 1, disk_gb: 1 });
  await must(service, 'CreateSandbox', { name: 'neighbour' });
}, 120_000);

afterAll(() => service?.stop());

/** Runs a command in the sandbox in trouble while asking its neighbour again and again. */
async function troubled(command: string, timeout_seconds = 20): Promise<Record<string, unknown>> {
  let over = false;
  const trouble = must(service, 'RunCommand', { sandbox: 'trouble', command, timeout_seconds }).finally(
    () => {
      over = true;
    },
  );
  while (!over) {
    const begun = performance.now();
    expect(await inNeighbour('echo fine')).toMatchObject({ stdout: 'fine\n' });
    expect(performance.now() - begun).toBeLessThan(NEIGHBOUR_MS);
  }
  return trouble;
}

const inNeighbour = (command: string) => must(service, 'RunCommand', { sandbox: 'neighbour', command });
const inTrouble = (command: string) => must(service, 'RunCommand', { sandbox: 'trouble', command });

async function recovered(): Promise<void> {
  await expect
    .poll(
      async () =>
        (await call(service, 'RunCommand', { sandbox: 'trouble', command: 'echo ok' })).body['stdout'],
      {
        timeout: 20_000,
      },
    )
    .toBe('ok\n');
}

describe('is the sandbox’s own trouble only:', () => {
  it('[WIRE-EXEC-06] [WIRE-EXEC-07] a fork bomb, killed at its timeout to the last process', async () => {
    const result = await troubled('echo begun; bomb() { bomb | bomb & }; bomb; sleep 60', 2);
    expect(result).toMatchObject({ timed_out: true, exit_code: 124 });
    expect(result['stdout']).toContain('begun');
    await recovered();
    expect(Number((await inTrouble('ls -d /proc/[0-9]* | wc -l'))['stdout'])).toBeLessThan(15);
  }, 120_000);

  it('a process that detaches twice, killed with the rest', async () => {
    await troubled('(setsid sh -c "(sleep 777 &) ; sleep 777" &) ; setsid sleep 777 & sleep 60', 1);
    expect(await inTrouble('pgrep -f "[s]leep 777" | wc -l')).toMatchObject({ stdout: '0\n' });
  }, 60_000);

  it('[WIRE-EXEC-08] a memory hog, killed alone', async () => {
    const result = await troubled('python3 -c "x = [bytearray(1 << 20) for _ in range(4096)]"');
    expect(result['exit_code']).toBe(137);
    await recovered();
  }, 60_000);

  it('a full disk', async () => {
    expect((await troubled('head -c 3G /dev/zero > full'))['stderr']).toContain('No space left');
    const write = await call(service, 'WriteFile', {
      sandbox: 'trouble',
      path: 'more',
      content: 'x'.repeat(100_000),
    });
    expect(write.body['code']).toBe('resource_exhausted');
    expect(await inTrouble('rm full && echo freed')).toMatchObject({ stdout: 'freed\n' });
    await recovered();
  }, 60_000);

  it('a disk out of inodes', async () => {
    // It has 65,536.
    const result = await troubled('mkdir -p many && cd many && seq 1 70000 | xargs touch 2>&1 | tail -1', 60);
    expect(result['stdout']).toContain('No space left');
    await inTrouble('rm -rf many');
    await recovered();
  }, 120_000);

  it('[WIRE-EXEC-09] 500 MB of output, of which both ends are kept', async () => {
    const result = await troubled('echo first; head -c 500M /dev/zero | tr "\\0" x; echo; echo last', 60);
    expect(result).toMatchObject({ truncated: true, exit_code: 0 });
    const text = String(result['stdout']);
    expect(text.startsWith('first\n')).toBe(true);
    expect(text.endsWith('last\n')).toBe(true);
    expect(text.length).toBeLessThan((1 << 20) + 1_000);
  }, 120_000);

  it('a command that closes its own output', async () => {
    expect(await troubled('echo before; exec >&- 2>&-; sleep 0.2; exit 3')).toMatchObject({
      stdout: 'before\n',
      exit_code: 3,
    });
  });

  it('[WIRE-EXEC-05] background children that hold the pipes: the command returns, they live on', async () => {
    const begun = performance.now();
    expect(await inTrouble('sleep 5 & echo done')).toMatchObject({ stdout: 'done\n' });
    expect(performance.now() - begun).toBeLessThan(4_000);
    expect(await inTrouble('pgrep -c sleep')).toMatchObject({ stdout: '1\n' });
  });

  it('[WIRE-FILES-12] FIFOs, sockets, devices and folders as files', async () => {
    await inTrouble('mkfifo pipe; python3 -c "import socket; socket.socket(socket.AF_UNIX).bind(\'sock\')"');
    for (const path of ['pipe', 'sock', '/dev/zero', '/dev/tty', '/workspace', '/proc/1/fd']) {
      const { body } = await call(service, 'ReadFile', { sandbox: 'trouble', path });
      expect(['invalid_argument', 'permission_denied'], path).toContain(body['code']);
    }
    expect(await must(service, 'ReadFile', { sandbox: 'trouble', path: '/proc/cpuinfo' })).toMatchObject({
      encoding: 'utf-8',
    });
  });

  it('[WIRE-FILES-24] names with newlines, and names that are not UTF-8', async () => {
    await inTrouble("mkdir odd && cd odd && printf 1 > $'a\\nb' && printf 2 > $'bad\\xff\\xfe'");
    const { files } = (await must(service, 'ListFiles', { sandbox: 'trouble', path: 'odd' })) as {
      files: { name: string }[];
    };
    expect(files.map(({ name }) => name).sort()).toEqual(['a\nb', 'bad\uf7ff\uf7fe']);
    for (const [name, content] of [
      ['a\nb', '1'],
      ['bad\uf7ff\uf7fe', '2'],
    ]) {
      expect(await must(service, 'ReadFile', { sandbox: 'trouble', path: `odd/${name}` })).toMatchObject({
        content,
      });
    }
    await must(service, 'DeleteFile', { sandbox: 'trouble', path: 'odd', recursive: true });
  });

  it('[WIRE-STATE-08] the death of its init: stopped with a reason, or deleted when ephemeral; the disk is whole', async () => {
    const kept = await must(service, 'CreateSandbox');
    const gone = await must(service, 'CreateSandbox', { ephemeral: true });
    await must(service, 'WriteFile', { sandbox: kept['id'], path: 'kept', content: 'kept' });
    for (const { id } of [kept, gone]) process.kill(initOf(String(id)), 'SIGKILL');
    await expect
      .poll(async () => (await call(service, 'GetSandbox', { sandbox: kept['id'] })).body, {
        timeout: 10_000,
      })
      .toMatchObject({ state: 'stopped', state_reason: expect.stringContaining('init') });
    await expect
      .poll(async () => (await call(service, 'GetSandbox', { sandbox: gone['id'] })).status, {
        timeout: 10_000,
      })
      .toBe(404);
    await must(service, 'StartSandbox', { sandbox: kept['id'] });
    expect(await must(service, 'ReadFile', { sandbox: kept['id'], path: 'kept' })).toMatchObject({
      content: 'kept',
    });
  }, 60_000);
});

/** The host pid of a sandbox's PID 1: the one whose innermost pid is 1. */
function initOf(id: string): number {
  for (const pid of readdirSync('/proc').filter((entry) => /^\d+$/.test(entry))) {
    try {
      if (!readFileSync(`/proc/${pid}/cgroup`, 'utf8').includes(id)) continue;
      if (/^NSpid:.*\s1$/m.test(readFileSync(`/proc/${pid}/status`, 'utf8'))) return Number(pid);
    } catch {
      // It ended while it was looked at.
    }
  }
  throw new Error(`sandbox ${id} has no init`);
}
