/** How much of the machine's disk an archive on it takes. */
import { statSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { callsOf } from '../support/calls.ts';
import { must, type Service, startService } from '../support/service.ts';

let service: Service;

beforeAll(async () => {
  service = await startService();
}, 120_000);

afterAll(() => service?.stop());

const { run } = callsOf(() => service);

it('[SBX-STATE-07] an archived sandbox takes less storage than it did when it was stopped', async () => {
  const { id } = await must(service, 'CreateSandbox', { disk_gb: 5 });
  const sizeOf = (file: string) =>
    statSync(join(service.dataDir, 'sandboxes', String(id), file)).blocks * 512;
  await run('head -c 30M /dev/zero | tr "\\0" a > compressible');
  await must(service, 'StopSandbox', { sandbox: id });
  const stopped = sizeOf('disk.img');
  await must(service, 'ArchiveSandbox', { sandbox: id });
  expect(sizeOf('archive.tar.zst')).toBeLessThan(stopped / 10);
  await must(service, 'StartSandbox', { sandbox: id });
  expect(await run('wc -c < compressible')).toBe(`${30 * 2 ** 20}\n`);
}, 60_000);
