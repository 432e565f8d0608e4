/** 200 forks of one sandbox, by a service that is killed in the middle of it again and again. */
import { existsSync, readdirSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { between, givenSeed, oneOf, randomFrom } from '../support/random.ts';
import { call, must, type Service, startService } from '../support/service.ts';

const FORKS = 200;
const AT_ONCE = 10;
/** Sandboxes that are kept beside the source, at most. */
const KEPT = 20;
/** How long a service lives after the call, in ms: ten forks take about two seconds. */
const LIFETIME = { min: 20, max: 2_500 };
/** Of the files that the test has written: names, types, modes, owners, links and contents. */
const DIGEST = 'cd / && tar --sort=name --mtime=@0 -cf - workspace var/lib/kept | sha256sum';

interface Listed {
  id: string;
  name: string;
  state: string;
  operation?: string;
}

const seed = givenSeed();
const random = randomFrom(seed);
let service: Service;

beforeAll(async () => {
  service = await startService();
  await must(service, 'CreateSandbox', { name: 'source', memory_gb: 1, disk_gb: 3 });
  await run(
    'source',
    `head -c 40M /dev/urandom > data; mkdir -p many /var/lib/kept; for i in $(seq 2000); do echo $i > many/$i; done
     ln -s data link; ln many/1 hard; chmod 4755 many/2; chown 1000:1000 many/3; head -c 5M /dev/urandom > /var/lib/kept/more`,
  );
}, 120_000);

afterAll(() => service?.stop());

it(`are each the whole disk or not there, and what nobody uses is given back (seed ${seed})`, async () => {
  const whole = await run('source', DIGEST);
  let made = 0;
  for (let round = 0; made < FORKS; round++) {
    const before = new Set((await list()).map(({ id }) => id));
    const forking = call(service, 'ForkSandbox', {
      ...{ sandbox: 'source', count: AT_ONCE, name: `round-${round}` },
    }).catch(() => null);
    if (round % 3 !== 0) {
      await sleep(between(random, LIFETIME.min, LIFETIME.max));
      await service.kill();
      await forking;
      await service.restart();
    }
    const answer = await forking;
    if (answer) expect(answer.body['failed'], JSON.stringify(answer.body)).toEqual([]);
    for (const { id, name } of (await list()).filter((one) => !before.has(one.id))) {
      await must(service, 'StartSandbox', { sandbox: id });
      expect(await run(id, DIGEST), name).toBe(whole);
      await run(id, 'head -c 1M /dev/urandom > data; rm -r many');
      made++;
    }
    expect(await run('source', DIGEST)).toBe(whole);
    await deleteUntil(KEPT);
  }
  const [source] = (await list()).filter(({ name }) => name === 'source');
  const children = (await list()).filter(({ name }) => name !== 'source');
  expect(children.length).toBeGreaterThan(0);
  await must(service, 'DeleteSandbox', { sandbox: source?.id ?? '' });
  for (const { id } of children) {
    await must(service, 'StartSandbox', { sandbox: id });
    expect(await run(id, 'stat -c %s data; ls')).toBe('1048576\ndata\nhard\nlink\n');
  }
  await deleteUntil(0);
  const folders = () => ['captures', 'sandboxes', 'trash'].flatMap(namesIn);
  await expect.poll(folders, { timeout: 60_000, interval: 500 }).toEqual([]);
}, 1_800_000);

async function run(sandbox: string, command: string): Promise<unknown> {
  const { output, exit_code } = await must(service, 'RunCommand', { sandbox, command, timeout_seconds: 120 });
  expect(exit_code, String(output)).toBe(0);
  return output;
}

async function list(): Promise<Listed[]> {
  return ((await must(service, 'ListSandboxes', { page_size: 100 })) as { sandboxes: Listed[] }).sandboxes;
}

/** In random order; the source stays as long as any other does. */
async function deleteUntil(left: number): Promise<void> {
  for (;;) {
    const [first, ...others] = (await list()).filter(({ name }) => name !== 'source');
    if (!first || 1 + others.length <= left) return;
    await must(service, 'DeleteSandbox', { sandbox: oneOf(random, [first, ...others]).id });
  }
}

function namesIn(folder: string): string[] {
  const path = join(service.dataDir, folder);
  return existsSync(path) ? readdirSync(path).map((name) => `${folder}/${name}`) : [];
}
