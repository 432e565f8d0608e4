/**
 * Many sandboxes, made, used and deleted many at once, by a service that is killed meanwhile: no call fails but those that
 * a kill interrupts, none of what was acknowledged is lost, and nothing is left.
 *
 * Forty; 1,500 in the part `kills` of `make test-deep`.
 */
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { inPart } from '../deep/parts.ts';
import { noTraces, tracesOf } from '../support/host.ts';
import { type Answer, call, must, type Service, startService } from '../support/service.ts';

const COUNT = inPart('kills') ? 1_500 : 40;
const AT_ONCE = Math.min(100, COUNT / 2);
/** A wave has work in all its stages by then. */
const KILL_AFTER_MS = 300;
const NUMBERS = Array.from({ length: COUNT }, (_, number) => number);

let service: Service;
/** Replaced whenever the service is killed; resolves when its successor serves. */
let ready = Promise.resolve();

beforeAll(async () => {
  // Disks of 1,500 sandboxes promise more than the host has.
  service = await startService({ flags: ['--disk-overcommit', '1000'] });
}, 120_000);
afterAll(async () => {
  await service?.stop();
}, 600_000);

describe(`${COUNT} sandboxes, ${AT_ONCE} at once`, () => {
  it('are made and used, though the service is killed twice', async () => {
    const killed = killAfter(2);
    await inWaves(async (number) => {
      await acknowledged('CreateSandbox', { name: nameOf(number), disk_gb: 1 }, 'already_exists');
      expect(await shell(number, `echo ${number} >/root/number && cat /root/number`)).toBe(`${number}\n`);
    });
    await killed;
  }, 1_800_000);

  it('leave the service most of its file descriptors', () => {
    const open = readdirSync(`/proc/${service.pid}/fd`).length;
    const limit = /^Max open files +(\d+)/m.exec(readFileSync(`/proc/${service.pid}/limits`, 'utf8'))?.[1];
    expect(open).toBeLessThan(Number(limit) / 2);
  });

  it('are all there for the next service', async () => {
    await kill();
    await inWaves(async (number) => {
      expect(await shell(number, 'cat /root/number')).toBe(`${number}\n`);
    });
  }, 1_800_000);

  it('are deleted, though the service is killed meanwhile, and leave nothing', async () => {
    const killed = killAfter(1);
    await inWaves((number) => acknowledged('DeleteSandbox', { sandbox: nameOf(number) }, 'not_found'));
    await killed;
    expect(await must(service, 'ListSandboxes')).toMatchObject({ sandboxes: [] });
    await expect.poll(() => tracesOf(service.dataDir)).toEqual(noTraces);
    await expect.poll(() => readdirSync(join(service.dataDir, 'trash')), { timeout: 300_000 }).toEqual([]);
  }, 1_800_000);
});

const nameOf = (number: number): string => `many-${number}`;

async function inWaves(work: (number: number) => Promise<unknown>): Promise<void> {
  for (let first = 0; first < COUNT; first += AT_ONCE) {
    await Promise.all(NUMBERS.slice(first, first + AT_ONCE).map(work));
  }
}

async function killAfter(times: number): Promise<void> {
  for (let time = 0; time < times; time++) {
    await sleep(KILL_AFTER_MS);
    await kill();
  }
}

async function kill(): Promise<void> {
  const { promise, resolve } = Promise.withResolvers<void>();
  ready = promise;
  await service.kill();
  await service.restart();
  resolve();
}

/** Repeats a call that a kill interrupted; a repeated one may meet what the first had done already. */
async function acknowledged(
  tool: string,
  parameters: Record<string, unknown>,
  doneBefore?: string,
): Promise<Answer['body']> {
  for (let attempt = 1; ; attempt++) {
    await ready;
    const answer = await call(service, tool, parameters).catch(whenBroken);
    if (answer?.status === 200) return answer.body;
    if (answer === null) continue;
    if (attempt > 1 && answer.body['code'] === doneBefore) return answer.body;
    throw new Error(`${tool} ${JSON.stringify(parameters)}: ${JSON.stringify(answer.body)}`);
  }
}

function whenBroken(error: unknown): null {
  if (error instanceof TypeError) return null;
  throw error;
}

async function shell(number: number, command: string): Promise<unknown> {
  const answer = await acknowledged('RunCommand', { sandbox: nameOf(number), command });
  return answer['output'];
}
