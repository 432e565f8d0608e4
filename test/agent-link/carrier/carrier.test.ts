/** A real agent that carries a disk: what goes through it, and what it refuses. */
import { execFileSync } from 'node:child_process';
import { mkdirSync, mkdtempSync, readdirSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { buffer } from 'node:stream/consumers';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { packDisk, unpackDisk } from '../../../src/agent-link/carrier.ts';
import { compressed, decompressed } from '../../../src/runtime/kubernetes/archives/streams.ts';
import { type ScratchSandbox, startScratchSandbox } from '../scratch-sandbox.ts';

const LEFT_OUT = ['lost+found', 'work/'];

let folder: string;
const running: ScratchSandbox[] = [];

// Not in memory, where files have no attributes of users.
beforeEach(() => {
  folder = mkdtempSync('/var/tmp/sandhaven-carrier-');
});
afterEach(async () => {
  for (const one of running.splice(0)) await one[Symbol.asyncDispose]();
  rmSync(folder, { recursive: true });
});

async function carrierOf(disk: string): Promise<ScratchSandbox> {
  const carrier = await startScratchSandbox({ transport: 'tls', secret: 'mounted', carried: disk });
  running.push(carrier);
  return carrier;
}

function disk(name: string): string {
  const path = join(folder, name);
  mkdirSync(path);
  return path;
}

const program = (name: string) => join(import.meta.dirname, name);
const listed = (path: string) =>
  JSON.parse(execFileSync('python3', [program('list-disk.py'), path], { encoding: 'utf8' }));
const pack = (carrier: ScratchSandbox) => packDisk(carrier.openChannel, carrier.id, LEFT_OUT);

describe('a carrier', () => {
  it('brings everything of a disk onto another', async () => {
    const [from, to] = [disk('from'), disk('to')];
    execFileSync('python3', [program('fill-disk.py'), from]);
    mkdirSync(join(from, 'work/inside'), { recursive: true });
    mkdirSync(join(to, 'lost+found'));
    const expected = listed(from);
    const source = await carrierOf(from);
    const packed = await buffer(compressed(await pack(source)));
    expect(packed.length).toBeLessThan(2 ** 20);
    expect(await buffer(compressed(await pack(source)))).toEqual(packed);
    await source.terminate();

    const target = await carrierOf(to);
    await unpackDisk(target.openChannel, target.id, LEFT_OUT, decompressed(pieces(packed)));
    const { 'work/inside': _, ...rest } = expected;
    expect(listed(to)).toEqual(rest);
  }, 60_000);

  it('takes only what it would give, and only onto an empty disk', async () => {
    const to = disk('to');
    const carrier = await carrierOf(to);
    const send = (bytes: Buffer) => unpackDisk(carrier.openChannel, carrier.id, LEFT_OUT, pieces(bytes));
    await expect(send(Buffer.from('no archive'))).rejects.toMatchObject({
      code: 'failed_precondition',
      message: 'The archive is damaged: it ends too early.',
    });
    await expect(send(Buffer.alloc(1024))).rejects.toMatchObject({ code: 'failed_precondition' });
    expect(readdirSync(to)).toEqual([]);
    writeFileSync(join(to, 'left'), '');
    const whole = await buffer(await pack(carrier));
    await expect(send(whole)).rejects.toMatchObject({ message: 'The disk is not empty.' });
  });

  it('does one thing at a time, and goes on when its host hangs up', async () => {
    const from = disk('from');
    writeFileSync(join(from, 'much'), Buffer.alloc(64 * 2 ** 20, 7));
    const carrier = await carrierOf(from);
    const first = await pack(carrier);
    await expect(pack(carrier)).rejects.toMatchObject({
      message: 'The disk is being read or written already.',
    });
    first.destroy();
    const again = () => pack(carrier).then(buffer, () => null);
    await expect.poll(async () => (await again())?.length, { timeout: 10_000 }).toBeGreaterThan(2 ** 26);
  });

  it('runs no program', async () => {
    const carrier = await carrierOf(disk('from'));
    await expect(carrier.sh('true')).rejects.toMatchObject({ message: expect.stringContaining('exec') });
  });
});

async function* pieces(bytes: Buffer): AsyncGenerator<Uint8Array> {
  for (let at = 0; at < bytes.length; at += 100_000) yield bytes.subarray(at, at + 100_000);
}
