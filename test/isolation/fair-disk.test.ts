/** What a sandbox writes stands in the host's disk queue in small requests, so that another's flush is soon served. */
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { person } from '../support/people.ts';
import { must, type Service, startService } from '../support/service.ts';

let service: Service;

beforeAll(async () => {
  service = await startService();
}, 60_000);

afterAll(() => service?.stop());

it('one request of a sandbox to its disk has at most 128 KiB', async () => {
  const alice = await person(service, 'Alice');
  const { id } = await must(alice, 'CreateSandbox', { disk_gb: 1 });
  const image = join(service.dataDir, 'sandboxes', String(id), 'disk.img');
  const device = readdirSync('/sys/block').find((name) => backing(name) === image);
  expect(device).toMatch(/^loop\d+$/);
  expect(Number(readFileSync(`/sys/block/${device}/queue/max_sectors_kb`, 'utf8'))).toBe(128);
}, 60_000);

/** The file behind a loop device. */
function backing(device: string): string | null {
  const file = `/sys/block/${device}/loop/backing_file`;
  return existsSync(file) ? readFileSync(file, 'utf8').trim() : null;
}
