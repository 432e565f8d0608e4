/**
 * Conformance of the `Runtime` port, whatever machines are made of: the same suite for the engine and for the runtime
 * in memory that the simulation stands on.
 */
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import type { MachineSpec, Runtime } from '../../src/control/ports/index.ts';
import { newForkId, newSandboxId, newSnapshotId } from '../../src/model/ids.ts';
import type { ArchiveRecord, Resources } from '../../src/model/sandbox.ts';

export interface RuntimeUnderTest {
  /** Initialised. */
  runtime: Runtime;
  /** Returns a second runtime over the same host, with none of the first's memory, and puts the first out of action. */
  again(): Promise<Runtime>;
  imageDigest: string;
  /** Damages the archive of a sandbox, its size unchanged. */
  damageArchive(id: string): Promise<void>;
  /** Exchanges the archives of two sandboxes. */
  exchangeArchives(one: string, other: string): Promise<void>;
  /** Lists everything that the host still has of the sandbox, in words. */
  traces(id: string): string[] | Promise<string[]>;
  remove(): Promise<void>;
  inside: Inside;
}

/** What a program inside a running machine sees and does. */
export interface Inside {
  write(runtime: Runtime, id: string, name: string, text: string): Promise<void>;
  /** Returns null without such a file. */
  read(runtime: Runtime, id: string, name: string): Promise<string | null>;
  /** Returns a text that is another one after each start. */
  boot(runtime: Runtime, id: string): Promise<string>;
  /** Ends PID 1. */
  endInit(runtime: Runtime, id: string): Promise<void>;
}

const small: Resources = { cpu: 1, memory: 1, disk: 1, gpu: 0 };
const unavailable = { code: 'unavailable' };

/** Bounds of the host under test. */
export interface Abilities {
  archives?: boolean;
  /** Captures disks. */
  captures?: boolean;
  /** Small machines that it runs at once. */
  atOnce?: number;
}

export function runtimeConformance(
  name: string,
  factory: () => Promise<RuntimeUnderTest>,
  { archives = true, captures = true, atOnce = 8 }: Abilities = {},
): void {
  describe(`${name} as a Runtime`, { timeout: 120_000 }, () => {
    let host: RuntimeUnderTest;
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

    const spec = (id = newSandboxId()): MachineSpec => {
      made.add(id);
      return { id, imageDigest: host.imageDigest, resources: small };
    };
    const started = async (): Promise<MachineSpec> => {
      const machine = spec();
      await runtime.start(machine, 1);
      return machine;
    };
    const observed = async (id: string) => (await runtime.observe()).find((one) => one.id === id) ?? null;
    const running = async (id: string) => (await observed(id))?.runningGeneration ?? null;
    const write = (id: string, file: string, text: string) => host.inside.write(runtime, id, file, text);
    const read = (id: string, file: string) => host.inside.read(runtime, id, file);
    const boot = (id: string) => host.inside.boot(runtime, id);

    describe('start and stop', () => {
      it('starts a machine, and shows it', async () => {
        const { id } = await started();
        expect(await observed(id)).toEqual({ id, runningGeneration: 1, hasDisk: true, hasArchive: false });
        expect(await runtime.inspect(id)).toEqual(await observed(id));
      });

      it('takes a second start of one generation as the same one', async () => {
        const machine = await started();
        const before = await boot(machine.id);
        await runtime.start(machine, 1);
        expect(await boot(machine.id)).toBe(before);
      });

      it('replaces a machine of an older generation, and refuses a start of one', async () => {
        const machine = await started();
        await runtime.start(machine, 3);
        expect(await running(machine.id)).toBe(3);
        await expect(runtime.start(machine, 2)).rejects.toMatchObject(unavailable);
        await runtime.stop(machine.id, 0);
        await expect(runtime.start(machine, 2)).rejects.toMatchObject(unavailable);
        expect(await running(machine.id)).toBeNull();
      });

      it('keeps files over a stop', async () => {
        const machine = await started();
        await write(machine.id, 'file', 'kept');
        await runtime.stop(machine.id, 1_000);
        expect(await running(machine.id)).toBeNull();
        await runtime.start(machine, 2);
        expect(await read(machine.id, 'file')).toBe('kept');
        expect(await read(machine.id, 'another')).toBeNull();
      });

      it('stops what is stopped, and what never was, without complaint', async () => {
        const { id } = await started();
        await runtime.stop(id, 0);
        await runtime.stop(id, 0);
        await runtime.stop(newSandboxId(), 0);
      });

      it('leaves a machine alone that is newer than the stop', async () => {
        const machine = spec();
        await runtime.start(machine, 3);
        await runtime.stop(machine.id, 0, 2);
        expect((await runtime.inspect(machine.id))?.runningGeneration).toBe(3);
        await runtime.stop(machine.id, 0, 3);
        expect((await runtime.inspect(machine.id))?.runningGeneration).toBeNull();
      });

      it('notices that PID 1 ended, and starts again after a stop', async () => {
        const machine = await started();
        await host.inside.endInit(runtime, machine.id);
        await expect.poll(() => running(machine.id), { timeout: 10_000 }).toBeNull();
        await expect(runtime.openChannel(machine.id)).rejects.toMatchObject(unavailable);
        await runtime.stop(machine.id, 0);
        await runtime.start(machine, 2);
        expect(await running(machine.id)).toBe(2);
      });

      it('starts several at once', async () => {
        const machines = Array.from({ length: atOnce }, () => spec());
        await Promise.all(machines.map((machine) => runtime.start(machine, 1)));
        const boots = await Promise.all(machines.map(({ id }) => boot(id)));
        expect(boots).toHaveLength(atOnce);
        for (const { id } of machines) expect(await running(id)).toBe(1);
      });

      it('leaves nothing that runs when a start is canceled, and can start then', async () => {
        const machine = spec();
        for (const delay of [0, 5, 15, 30, 45]) {
          const signal = AbortSignal.timeout(delay);
          await runtime.start(machine, 1, { signal }).catch((error: unknown) => {
            expect(error).toMatchObject(unavailable);
          });
          await runtime.stop(machine.id, 0);
          expect(await running(machine.id)).toBeNull();
        }
        await runtime.start(machine, 2);
        expect(await running(machine.id)).toBe(2);
      });

      it('refuses ids that are not those of sandboxes', async () => {
        const refused = runtime.start(spec('../../etc'), 1);
        made.delete('../../etc');
        await expect(refused).rejects.toMatchObject({ code: 'invalid_argument' });
      });

      it('gives no channel to a machine that does not run, and resizes none', async () => {
        const id = newSandboxId();
        await expect(runtime.openChannel(id)).rejects.toMatchObject(unavailable);
        await expect(runtime.resizeLive(id, small)).rejects.toMatchObject(unavailable);
      });

      it('takes a slot for each machine that runs', async () => {
        const before = await runtime.capacity();
        const { id } = await started();
        expect((await runtime.capacity()).freeSlots).toBe(before.freeSlots - 1);
        await runtime.stop(id, 0);
        expect((await runtime.capacity()).freeSlots).toBe(before.freeSlots);
      });
    });

    describe('destroy', () => {
      it('leaves no trace', async () => {
        const { id } = await started();
        await runtime.destroy(id);
        expect(await host.traces(id)).toEqual([]);
        expect(await runtime.inspect(id)).toBeNull();
        await runtime.destroy(id);
      });

      it('goes before a start in progress', async () => {
        const machine = spec();
        for (const delay of [0, 10, 25, 40]) {
          const starting = runtime.start(machine, 1).catch((error: unknown) => error);
          await new Promise((resolve) => setTimeout(resolve, delay));
          await runtime.destroy(machine.id);
          expect(await host.traces(machine.id)).toEqual([]);
          await starting;
          expect(await host.traces(machine.id)).toEqual([]);
        }
      });

      it('removes a machine that only the host knows', async () => {
        const { id } = await started();
        runtime = await host.again();
        expect((await runtime.observe()).map((one) => one.id)).toContain(id);
        await runtime.destroy(id);
        expect(await host.traces(id)).toEqual([]);
        expect(await runtime.observe()).not.toContainEqual(expect.objectContaining({ id }));
      });
    });

    it('adopts what runs after the service lost its memory', async () => {
      const machine = await started();
      const before = await boot(machine.id);
      runtime = await host.again();
      expect(await running(machine.id)).toBe(1);
      await runtime.start(machine, 1);
      expect(await boot(machine.id)).toBe(before);
      await runtime.stop(machine.id, 500);
      await runtime.start(machine, 2);
      expect(await boot(machine.id)).not.toBe(before);
    });

    it('[SBX-RESIZE-06] grows the disk of a stopped machine, and keeps its files', async () => {
      const machine = await started();
      await write(machine.id, 'file', 'kept');
      await expect(runtime.growDisk(machine.id, 2)).rejects.toMatchObject(unavailable);
      await runtime.stop(machine.id, 500);
      if (!runtime.capabilities.diskGrowth) {
        const refused = runtime.growDisk(machine.id, 3);
        return expect(refused).rejects.toMatchObject({ code: 'failed_precondition' });
      }
      for (const size of [3, 3, 2]) await runtime.growDisk(machine.id, size);
      await runtime.start({ ...machine, resources: { ...small, disk: 3 } }, 2);
      expect(await read(machine.id, 'file')).toBe('kept');
    });

    it('captures the disks that it says it captures', () => {
      expect(runtime.captures !== undefined).toBe(captures);
    });

    const describeCaptures = captures ? describe : () => {};
    describeCaptures('captured disks', () => {
      const captureId = () => newSnapshotId();
      const disks = () => {
        if (!runtime.captures) throw new Error('this runtime captures no disks');
        return runtime.captures;
      };
      /** Starts a machine from it. @returns What its file says. */
      const fileOf = async (from: string): Promise<string | null> => {
        const machine = spec();
        await runtime.start({ ...machine, from }, 1);
        return read(machine.id, 'file');
      };
      it('hold what a machine had, running, stopped or archived', async () => {
        const machine = await started();
        const { id } = machine;
        await write(id, 'file', 'running');
        const [running, stopped, archived] = [captureId(), captureId(), captureId()];
        const { sizeBytes } = await disks().capture(running, { id, archive: null });
        expect(sizeBytes).toBeGreaterThan(0);
        expect(await disks().sizeOf(running)).toBe(sizeBytes);
        await write(id, 'file', 'stopped');
        await runtime.stop(id, 500);
        await disks().capture(stopped, { id, archive: null });
        if (archives) {
          const archive = await runtime.archive(id, 2);
          await runtime.dropDisk(id);
          await disks().capture(archived, { id, archive });
        }
        expect(await fileOf(running)).toBe('running');
        expect(await fileOf(stopped)).toBe('stopped');
        if (archives) expect(await fileOf(archived)).toBe('stopped');
        for (const each of [running, stopped, archived]) await disks().drop(each);
      });

      it('do not change, nor what was made from them when they go', async () => {
        const { id } = await started();
        await write(id, 'file', 'first');
        const capture = captureId();
        await disks().capture(capture, { id, archive: null });
        const copy = spec();
        await runtime.start({ ...copy, from: capture }, 1);
        await write(copy.id, 'file', 'changed');
        expect(await fileOf(capture)).toBe('first');
        await disks().drop(capture);
        await disks().drop(capture);
        expect(await disks().sizeOf(capture)).toBeNull();
        await runtime.stop(copy.id, 500);
        await runtime.start({ ...copy, from: capture }, 2);
        expect(await read(copy.id, 'file')).toBe('changed');
        await expect(runtime.start({ ...spec(), from: capture }, 1)).rejects.toMatchObject({
          code: 'not_found',
        });
      });

      it('are put back in place of the disk of a machine, grown to its size', async () => {
        const machine = await started();
        const { id } = machine;
        await write(id, 'file', 'first');
        const capture = captureId();
        await disks().capture(capture, { id, archive: null });
        await write(id, 'file', 'second');
        await expect(disks().putBack(id, capture, { diskGb: 1 })).rejects.toMatchObject(unavailable);
        await disks().stage(id, capture);
        await disks().drop(capture);
        await write(id, 'file', 'third');
        await runtime.stop(id, 500);
        await disks().putBack(id, capture, { diskGb: 3 });
        await runtime.start({ ...machine, resources: { ...small, disk: 3 } }, 2);
        expect(await read(id, 'file')).toBe('first');
        await expect(disks().stage(id, capture)).rejects.toMatchObject({ code: 'not_found' });
        expect(await read(id, 'file')).toBe('first');
      });

      it('are put back without a copy made before, again and again', async () => {
        const { id, ...machine } = await started();
        await write(id, 'file', 'kept');
        const capture = captureId();
        await disks().capture(capture, { id, archive: null });
        await write(id, 'file', 'lost');
        await runtime.stop(id, 500);
        for (const _ of [1, 2]) await disks().putBack(id, capture, { diskGb: 1 });
        await runtime.start({ id, ...machine }, 2);
        expect(await read(id, 'file')).toBe('kept');
        await disks().drop(capture);
      });

      it('of nobody are collected, and no others', async () => {
        const { id } = await started();
        const [kept, lost, fork] = [captureId(), captureId(), newForkId()];
        for (const each of [kept, lost, fork]) await disks().capture(each, { id, archive: null });
        await disks().collect(async () => new Set([kept]));
        expect(await disks().sizeOf(lost)).toBeNull();
        for (const each of [kept, fork]) expect(await disks().sizeOf(each)).not.toBeNull();
        for (const each of [kept, fork]) await disks().drop(each);
      });

      it('are not half there when there is nothing to capture', async () => {
        const capture = captureId();
        await expect(disks().capture(capture, { id: newSandboxId(), archive: null })).rejects.toMatchObject(
          unavailable,
        );
        expect(await disks().sizeOf(capture)).toBeNull();
      });
    });

    it('has the archives that it says it has', async () => {
      expect(runtime.capabilities.archive).toBe(archives);
      if (archives) return;
      const { id } = await started();
      await runtime.stop(id, 500);
      await expect(runtime.archive(id, 2)).rejects.toMatchObject({ code: 'failed_precondition' });
      await runtime.dropArchive(id);
      expect(await observed(id)).toMatchObject({ hasDisk: true, hasArchive: false });
    });

    const describeArchives = archives ? describe : () => {};
    describeArchives('archive', () => {
      async function stopped(text: string): Promise<MachineSpec> {
        const machine = await started();
        await write(machine.id, 'file', text);
        await runtime.stop(machine.id, 500);
        return machine;
      }

      it('brings the files back', async () => {
        const machine = await stopped('kept');
        const { id } = machine;
        const record = await runtime.archive(id, 2);
        expect(await observed(id)).toMatchObject({ hasDisk: true, hasArchive: true });
        await runtime.dropDisk(id);
        await runtime.dropDisk(id);
        expect(await observed(id)).toEqual({ id, runningGeneration: null, hasDisk: false, hasArchive: true });
        await runtime.restore(machine, 3, record);
        await runtime.restore(machine, 3, record);
        await runtime.start(machine, 3);
        expect(await read(id, 'file')).toBe('kept');
        await runtime.dropArchive(id);
        await runtime.dropArchive(id);
        expect(await observed(id)).toMatchObject({ hasDisk: true, hasArchive: false });
      });

      it('writes the same contents again when called again', async () => {
        const { id } = await stopped('kept');
        // In a bucket each has a place of its own.
        const contents = ({ digest, hmac, sizeBytes }: ArchiveRecord) => ({ digest, hmac, sizeBytes });
        const first = await runtime.archive(id, 2);
        expect(contents(await runtime.archive(id, 2))).toEqual(contents(first));
      });

      it('leaves the disk as it was when it is canceled', async () => {
        const machine = await stopped('kept');
        const caller = new AbortController();
        const canceled = runtime.archive(machine.id, 2, { signal: caller.signal });
        caller.abort();
        await expect(canceled).rejects.toMatchObject(unavailable);
        expect(await observed(machine.id)).toMatchObject({ hasDisk: true, hasArchive: false });
        await runtime.start(machine, 2);
        expect(await read(machine.id, 'file')).toBe('kept');
      });

      it('is refused while the machine runs', async () => {
        const { id } = await started();
        await expect(runtime.archive(id, 2)).rejects.toMatchObject(unavailable);
        await expect(runtime.dropDisk(id)).rejects.toMatchObject(unavailable);
        expect(await running(id)).toBe(1);
      });

      it('makes no empty disk where one is lost', async () => {
        const machine = await stopped('kept');
        await runtime.archive(machine.id, 2);
        await runtime.dropDisk(machine.id);
        await expect(runtime.start(machine, 3)).rejects.toMatchObject(unavailable);
        expect(await observed(machine.id)).toMatchObject({ hasDisk: false, hasArchive: true });
      });

      it('makes no disk from an archive that was damaged, exchanged, or has another record', async () => {
        const [machine, other] = [await stopped('one'), await stopped('other')];
        const { id } = machine;
        const [record, otherRecord] = [await runtime.archive(id, 2), await runtime.archive(other.id, 2)];
        await runtime.dropDisk(id);
        const refused = async (given: typeof record): Promise<void> => {
          await expect(runtime.restore(machine, 3, given)).rejects.toMatchObject(unavailable);
          expect(await observed(id)).toMatchObject({ hasDisk: false, hasArchive: true });
        };
        await refused({ ...record, hmac: '0'.repeat(64) });
        await refused({ ...record, hmac: '' });
        await refused({ ...record, digest: otherRecord.digest });
        await refused(otherRecord);
        await host.exchangeArchives(id, other.id);
        await refused(record);
        await refused(otherRecord);
        await host.exchangeArchives(id, other.id);
        await host.damageArchive(id);
        await refused(record);
      });
    });
  });
}
