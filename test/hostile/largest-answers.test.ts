/**
 * Answers and bodies of the largest size, more at once than there is room for, fit the bound on the service's heap
 * (bin/sandhaven), and their memory goes back. Their texts have one character that needs two bytes, so that all have.
 */
import { readFileSync } from 'node:fs';
import { setTimeout as sleep } from 'node:timers/promises';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { serviceSettings } from '../../setup/images/service-root.ts';
import { inPart } from '../deep/parts.ts';
import { type Person, person } from '../support/people.ts';
import { call, must, type Service, startService } from '../support/service.ts';
import { residentMb, watch } from './watch.ts';

/** The share of each in answers is 56 MiB, all have 160 MiB. */
const OWNERS = 4;
const READS_OF_OWNER = inPart('attacks') ? 3 : 2;
const WRITES_OF_OWNER = 2;
/** Of the 16 MiB that a file's content has in a result at most. */
const FILE_BYTES = 16_700_003;
const MAKE = "cd /workspace; head -c 16700000 /dev/zero | tr '\\0' 'a' > large; printf '€' >> large";
const CONTENT = `${'a'.repeat(15_900_000)}€`;

/** The heap's bound of 768 MB, and what is outside of it: buffers of bytes, and strings of over a megabyte. */
const PEAK_MB = 1_200;
const RESTED_MB = 150;
const REST_MS = 30_000;
const READER_PAUSE_MS = 8_000;

const BOUND = '--max-old-space-size=768';

let service: Service;
const owners: Person[] = [];

beforeAll(async () => {
  service = await startService();
  for (let i = 0; i < OWNERS; i++) {
    const owner = await person(service, `Owner${i}`);
    await must(owner, 'CreateSandbox', { name: 'box', cpu: 1, memory_gb: 1, disk_gb: 1 });
    await must(owner, 'RunCommand', { sandbox: 'box', command: MAKE });
    owners.push(owner);
  }
}, 120_000);

afterAll(() => service.stop(), 120_000);

it('the service has a bound on its heap, and so has the one of the image for containers', () => {
  expect(readFileSync(`/proc/${service.pid}/cmdline`, 'utf8').split('\0')).toContain(BOUND);
  expect(serviceSettings().Entrypoint).toContain(BOUND);
});

it('the largest answers and bodies at once fit the heap, and within 30 s the service holds 150 MB again', async () => {
  const watched = watch(service.pid);
  const calls = owners.flatMap((owner) => [
    ...Array.from({ length: READS_OF_OWNER }, () => read(owner)),
    ...Array.from({ length: WRITES_OF_OWNER }, (_, i) => write(owner, i)),
  ]);
  const done = await Promise.all(calls);
  const { residentMb: peakMb } = watched.stop();
  expect(new Set(done)).toEqual(new Set([`read ${FILE_BYTES - 2} characters`, 'wrote 15900003 bytes']));
  expect(peakMb).toBeLessThan(PEAK_MB);
  const rested = () => residentMb(service.pid) < RESTED_MB;
  for (const deadline = Date.now() + REST_MS; !rested() && Date.now() < deadline; ) await sleep(1_000);
  const restedMb = residentMb(service.pid);
  console.info(`the service held ${Math.round(peakMb)} MB at most, and ${Math.round(restedMb)} MB later`);
  expect(restedMb).toBeGreaterThan(0);
  expect(restedMb).toBeLessThan(RESTED_MB);
}, 240_000);

/** Leaves the answer waiting for longer than a quiet service takes to collect its memory, this answer still in it. */
async function read({ url, apiKey }: Person): Promise<string> {
  const answer = await fetch(`${url}/v1/tools/Sandbox.ReadFile`, {
    method: 'POST',
    headers: { authorization: `Bearer ${apiKey}`, 'content-type': 'application/json' },
    body: JSON.stringify({ sandbox: 'box', path: '/workspace/large' }),
  });
  await sleep(READER_PAUSE_MS);
  const { content } = (await answer.json()) as { content?: string };
  return `read ${String(content).length} characters`;
}

async function write(owner: Person, i: number): Promise<string> {
  const path = `/workspace/written-${i}`;
  const { status, body } = await call(owner, 'WriteFile', { sandbox: 'box', path, content: CONTENT });
  return status === 200 ? `wrote ${body['bytes_written']} bytes` : JSON.stringify(body);
}
