/** The egress program is killed at random, while a sandbox tries what its rules allow and what they refuse. */
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { NATIVE } from '../../../src/app/engine/installed.ts';
import type { Slot } from '../../../src/runtime/oci/host/plan.ts';
import { inPart } from '../../deep/parts.ts';
import { type Driven, drive } from '../../egress/support/drive.ts';
import { between, givenSeed, type Random, randomFrom } from '../../support/random.ts';
import { egressPid, killEgress } from '../egress-process.ts';
import { batch, createTestHost, type Instance, inside, runDirOf, type TestHost } from '../harness.ts';
import { rules } from '../policies/rules.ts';
import type { Tally, Try } from './load.ts';

const kills = inPart('network') ? 30 : 6;
const [api, elsewhere] = ['203.0.113.10', '203.0.113.66'];
const allowed: Try = { resolve: 'api.test', address: api, port: 443, name: 'api.test', isAllowed: true };
const refused: Try = { ...allowed, isAllowed: false };
const tries: Try[] = [
  allowed,
  { ...allowed, port: 80 },
  { ...refused, name: 'evil.test' },
  { ...refused, name: 'evil.test', port: 80 },
  { ...refused, resolve: null, address: elsewhere },
  { ...refused, resolve: null, address: elsewhere, port: 80 },
  { ...refused, resolve: 'evil.test', address: elsewhere, name: 'evil.test' },
];

let host: TestHost;
let instance: Instance;
let outside: Driven;
let load: Driven;
let slot: Slot;

beforeAll(async () => {
  host = await createTestHost();
  await batch(host.outside, ['route add local 203.0.113.0/24 dev lo']);
  outside = drive(host.outside.path, 'outside.ts');
  await outside.call('zone', { name: 'api.test', addresses: [api] });
  await outside.call('zone', { name: 'evil.test', addresses: [elsewhere] });
  instance = host.start({ poolSize: 1, egressPath: join(NATIVE, 'sandhaven-egress') });
  writeFileSync(`${runDirOf(instance.id)}/resolv.conf`, 'nameserver 203.0.113.53\n');
  await instance.init();
  slot = await instance.acquire('sb_0000000000000001', rules('api.test'));
  load = drive(inside(slot).path, '../../network/ways/load.ts');
});

afterAll(async () => {
  await Promise.all([load?.end(), outside?.end()]);
  await host?.[Symbol.asyncDispose]();
});

/** Kills the program, and sometimes the next one while it starts. Returns how long nothing passed, in milliseconds. */
async function killOnce(random: Random): Promise<number> {
  await sleep(between(random, 0, 400));
  const killed = egressPid(slot);
  killEgress(slot);
  if (random() < 0.2) {
    await expect.poll(() => egressPid(slot) ?? killed, { interval: 5 }).not.toBe(killed);
    await sleep(between(random, 0, 30));
    killEgress(slot);
  }
  const start = performance.now();
  await expect
    .poll(() => load.call('attempt', { gateway: slot.gateway, one: allowed }), { interval: 10 })
    .toBe(true);
  return performance.now() - start;
}

async function hasTriedEnough(): Promise<boolean> {
  const { passed, stopped } = await load.call<Tally>('tally');
  return passed > 10 && stopped > 10;
}

it('each time nothing refused passes, no byte goes to a wrong place, and it is back within a second', {
  timeout: 180_000,
}, async () => {
  const seed = givenSeed();
  console.log(`SEED=${seed}`);
  const random = randomFrom(seed);
  await load.call('start', { gateway: slot.gateway, tries, atOnce: 8 });
  const gaps: number[] = [];
  // On a host under load a few kills pass before much was tried.
  while (gaps.length < kills || !(await hasTriedEnough())) gaps.push(await killOnce(random));
  const tally = await load.call<Tally>('stop');
  const seen = await outside.call<{ address: string; port: number; text: string }[]>('seen');
  expect(tally.leaked).toBe(0);
  const texts = seen.filter(({ text }) => text !== '');
  expect(texts.length).toBeGreaterThan(10);
  // A connection that was cut may have come without its note.
  expect(texts.filter(({ text }) => text.includes('REFUSED') || text.includes('evil.test'))).toEqual([]);
  const misled = texts.filter(({ text, address, port }) => {
    const note = /to=([^;]*);/.exec(text)?.[1];
    return note !== undefined && note !== `${address}:${port}`;
  });
  expect(misled).toEqual([]);
  expect(texts.filter(({ address }) => address !== api)).toEqual([]);
  expect((await outside.call<string[]>('asked')).filter((asked) => asked !== 'api.test 1')).toEqual([]);
  expect(gaps.filter((ms) => ms >= 1_000)).toEqual([]);
});
