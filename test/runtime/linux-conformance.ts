/**
 * Conformance of a `Runtime` whose machines are Linux: beside the portable suite, what programs inside see of the
 * kernel, and what it holds them to.
 */
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import type { MachineSpec, Runtime } from '../../src/control/ports/index.ts';
import { newSandboxId, newSnapshotId } from '../../src/model/ids.ts';
import type { Resources } from '../../src/model/sandbox.ts';
import type { RuntimeUnderTest } from './conformance.ts';

export interface LinuxRuntimeUnderTest extends RuntimeUnderTest {
  /** Runs a shell script as root of the machine. PID 1 ends at SIGTERM unless /root/stubborn is there. */
  exec(runtime: Runtime, id: string, script: string): Promise<{ exitCode: number; output: string }>;
}

const small: Resources = { cpu: 1, memory: 1, disk: 1, gpu: 0 };

export function linuxConformance(name: string, factory: () => Promise<LinuxRuntimeUnderTest>): void {
  describe(`${name} as a Runtime of Linux machines`, () => {
    let host: LinuxRuntimeUnderTest;
    let runtime: Runtime;
    const made = new Set<string>();

    beforeAll(async () => {
      host = await factory();
      runtime = host.runtime;
    });
    afterEach(async () => {
      for (const id of made) await runtime.destroy(id);
      made.clear();
    });
    afterAll(() => host?.remove());

    const spec = (resources: Partial<Resources> = {}, id = newSandboxId()): MachineSpec => {
      made.add(id);
      return { id, imageDigest: host.imageDigest, resources: { ...small, ...resources } };
    };
    const started = async (resources: Partial<Resources> = {}): Promise<MachineSpec> => {
      const machine = spec(resources);
      await runtime.start(machine, 1);
      return machine;
    };
    const sh = async (id: string, script: string): Promise<string> => {
      const { exitCode, output } = await host.exec(runtime, id, script);
      expect({ exitCode, output }).toMatchObject({ exitCode: 0 });
      return output.trim();
    };
    const observed = async (id: string) => (await runtime.observe()).find((one) => one.id === id) ?? null;

    describe('usage', () => {
      it('is the processor time and the memory of what runs, and what the disk takes of the host, and null of what is not there', async () => {
        const { id } = await started();
        const idle = await runtime.usage(id);
        expect(idle.memoryBytes).toBeGreaterThan(0);
        expect(idle.memoryBytes).toBeLessThan(200 * 1024 * 1024);
        expect(idle.diskBytes).toBeGreaterThan(0);
        await sh(id, 'head -c 50000000 /dev/urandom >/root/file && sync');
        const written = await runtime.usage(id);
        expect(Number(written.diskBytes) - Number(idle.diskBytes)).toBeGreaterThan(45_000_000);
        expect(Number(written.diskBytes) - Number(idle.diskBytes)).toBeLessThan(80_000_000);
        await sh(id, 'timeout 1 sh -c "while :; do :; done" || true');
        const busy = await runtime.usage(id);
        expect(Number(busy.cpuMs) - Number(written.cpuMs)).toBeGreaterThan(200);
        await runtime.stop(id, 1_000);
        expect(await runtime.usage(id)).toMatchObject({
          cpuMs: null,
          memoryBytes: null,
          diskBytes: expect.any(Number),
        });
        await runtime.destroy(id);
        expect(await runtime.usage(id)).toMatchObject({ cpuMs: null, memoryBytes: null, diskBytes: null });
      });
    });

    describe('start and stop', () => {
      it('starts a machine that answers, with its id as host name', async () => {
        const { id } = await started();
        expect(await sh(id, 'hostname; cat /etc/hostname; id -u')).toBe(`${id}\n${id}\n0`);
        expect(await observed(id)).toEqual({ id, runningGeneration: 1, hasDisk: true, hasArchive: false });
        expect(await runtime.inspect(id)).toEqual(await observed(id));
      });

      it('keeps files over a stop, and none of the processes', async () => {
        const machine = await started();
        await sh(
          machine.id,
          'echo kept > /root/file; rm -rf /usr/share/doc; sleep 1000 >/dev/null 2>&1 & true',
        );
        await runtime.stop(machine.id, 1000);
        expect((await observed(machine.id))?.runningGeneration).toBeNull();
        await runtime.start(machine, 2);
        expect(await sh(machine.id, 'cat /root/file; ls -d /usr/share/doc 2>&1; pgrep sleep; true')).toBe(
          "kept\nls: cannot access '/usr/share/doc': No such file or directory",
        );
      });

      it('keeps its disk when a captured one cannot be grown to take its place', async () => {
        const machine = await started();
        const { id } = machine;
        const { captures } = runtime;
        if (!captures) throw new Error('disks are not captured');
        const capture = newSnapshotId();
        await sh(id, 'echo captured > /root/file');
        await captures.capture(capture, { id, archive: null });
        await sh(id, 'echo later > /root/file');
        await runtime.stop(id, 1000);
        await expect(captures.putBack(id, capture, { diskGb: 1_000_000_000 })).rejects.toThrow();
        await runtime.start(machine, 2);
        expect(await sh(id, 'cat /root/file')).toBe('later');
        await captures.drop(capture);
      });

      it('lets files and folders of the image be renamed and linked', async () => {
        const { id } = await started();
        await sh(
          id,
          'mv /usr/share/doc /usr/share/moved && ln /usr/bin/env /root/env && cmp /usr/bin/env /root/env',
        );
        await sh(id, 'test -d /usr/share/moved && ! test -e /usr/share/doc');
      });

      it('kills a machine that ignores the request to end', async () => {
        const { id } = await started();
        await sh(id, 'touch /root/stubborn');
        const before = performance.now();
        await runtime.stop(id, 300);
        expect(performance.now() - before).toBeGreaterThan(299);
        expect((await observed(id))?.runningGeneration).toBeNull();
      });
    });

    describe('limits', { timeout: 60_000 }, () => {
      it('[SBX-RESIZE-09] ends a process that takes more memory than the machine has, and no other', async () => {
        const { id } = await started();
        const hog = 'python3 -c "x = bytearray(1 << 31); print(len(x))"';
        expect((await host.exec(runtime, id, hog)).exitCode).not.toBe(0);
        await sh(id, 'true');
      });

      it('[SBX-RESIZE-03] enlarges memory and cpu while the machine runs', async () => {
        const { id } = await started();
        await runtime.resizeLive(id, { ...small, memory: 3, cpu: 2 });
        expect(await sh(id, 'python3 -c "x = bytearray(1 << 31); print(len(x))"')).toBe(String(2 ** 31));
        await runtime.resizeLive(id, { ...small, memory: 1 });
        const hog = 'python3 -c "x = bytearray(1 << 31)"';
        expect((await host.exec(runtime, id, hog)).exitCode).not.toBe(0);
      });

      it('[SBX-RESIZE-09] gives no more processor time than asked for', async () => {
        const { id } = await started({ cpu: 1 });
        expect(await cpuSeconds(id)).toBeLessThan(2 * 1.25);
      });

      async function cpuSeconds(id: string): Promise<number> {
        const burn = 'timeout 2 sh -c "while :; do :; done"';
        const output = await sh(
          id,
          `bash -c 'TIMEFORMAT="%U %S"; time (${burn} & ${burn} & wait)' 2>&1; true`,
        );
        return output
          .split(/\s+/)
          .map(Number)
          .reduce((sum, seconds) => sum + seconds, 0);
      }

      it('bounds the number of processes', async () => {
        const { id } = await started();
        const output = await sh(
          id,
          `python3 - <<'PY'
import os, signal
children = []
try:
    while len(children) < 5000:
        pid = os.fork()
        if pid == 0:
            signal.pause()
        children.append(pid)
except OSError as error:
    print("stopped", error.errno)
for pid in children:
    os.kill(pid, signal.SIGKILL)
print(len(children) < 1100)
PY`,
        );
        expect(output).toBe('stopped 11\nTrue');
        await sh(id, 'true');
      });

      const fullDisk =
        '[SBX-RESIZE-09] holds the disk to its size, and starts again without a free block or inode';
      it(fullDisk, { timeout: 120_000 }, async () => {
        const machine = await started({ disk: 1 });
        const more = '$(($(df --output=iavail . | tail -1) + 500))';
        const touch = `mkdir /root/many; cd /root/many; seq ${more} | xargs touch`;
        const { output: touched } = await host.exec(runtime, machine.id, touch);
        expect(touched).toContain('No space left on device');
        const fill = 'cd /root/many; head -c 3G /dev/zero > 1; stat -c %s 1; cat /dev/zero >> 2';
        const { output } = await host.exec(runtime, machine.id, fill);
        expect(output).toContain('No space left on device');
        expect(Number(/^\d+$/m.exec(output)?.[0])).toBeLessThan(2 ** 30);
        for (const generation of [2, 3]) {
          await runtime.stop(machine.id, 500);
          await runtime.start(machine, generation);
        }
        await sh(machine.id, 'rm -rf /root/many; echo room > /root/new; cat /root/new');
      });

      it('[SBX-RESIZE-06] grows a disk of a stopped machine to exactly the size, and no other', async () => {
        const machine = await started({ disk: 1 });
        await sh(machine.id, 'echo kept > /root/file');
        await expect(runtime.growDisk(machine.id, 2)).rejects.toMatchObject({ code: 'unavailable' });
        await runtime.stop(machine.id, 500);
        await runtime.growDisk(machine.id, 3);
        await runtime.growDisk(machine.id, 3);
        await runtime.growDisk(machine.id, 2);
        await runtime.start({ ...machine, resources: { ...small, disk: 3 } }, 2);
        const [kept, size] = (await sh(machine.id, 'cat /root/file; df -B1 --output=size / | tail -1')).split(
          '\n',
        );
        expect(kept).toBe('kept');
        expect(Number(size)).toBeGreaterThan(2.8 * 2 ** 30);
        expect(Number(size)).toBeLessThanOrEqual(3 * 2 ** 30);
      });
    });

    it('grows the copy of a captured disk that a larger machine begins with', async () => {
      const { id } = await started({ disk: 1 });
      const { captures } = runtime;
      if (!captures) throw new Error('disks are not captured');
      const capture = newSnapshotId();
      await sh(id, 'echo kept > /root/file');
      await captures.capture(capture, { id, archive: null });
      const copy = spec({ disk: 3 });
      await runtime.start({ ...copy, from: capture }, 1);
      const [kept, size] = (await sh(copy.id, 'cat /root/file; df -B1 --output=size / | tail -1')).split(
        '\n',
      );
      expect([kept, Math.ceil(Number(size) / 2 ** 30)]).toEqual(['kept', 3]);
      await captures.drop(capture);
    });

    describe('archive', { timeout: 120_000 }, () => {
      const tree =
        'cd /root && find . -type f | sort | xargs sha256sum | sha256sum; stat -c "%a %u %s" /root/odd';

      it('leaves the disk as it was when it is canceled in the middle', async () => {
        const machine = await started();
        const fill =
          'cd /root; head -c 40M /dev/urandom > random; echo x > odd; chmod 4711 odd; chown 123 odd';
        const digest = await sh(machine.id, `${fill}; truncate -s 300M sparse; ${tree}`);
        await runtime.stop(machine.id, 500);
        const canceled = runtime.archive(machine.id, 2, { signal: AbortSignal.timeout(60) });
        await expect(canceled).rejects.toMatchObject({ code: 'unavailable' });
        expect(await observed(machine.id)).toMatchObject({ hasDisk: true, hasArchive: false });
        await runtime.start(machine, 2);
        expect(await sh(machine.id, tree)).toBe(digest);
      });
    });
  });
}
