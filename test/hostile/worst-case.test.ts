/**
 * One sandbox of 1 processor and 1 GiB that does its worst for a while, by all that can be done from inside, one after
 * another, since at once each would be in the way of the others: the host's memory stays, and what the kernel counts by
 * user or for all is there for others.
 *
 * Ten minutes in all.
 */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { createPrograms, type Programs } from '../isolation/programs.ts';
import { leftovers } from '../support/host.ts';
import { type Person, person } from '../support/people.ts';
import { must, type Service, startService } from '../support/service.ts';
import { prepareAttacks } from './attackers.ts';
import { availableMb, residentMb, watch } from './watch.ts';

const SECONDS = 600;
const HOST_MB = 1_536;
const LOOK_MS = 5_000;

/** What nobody outside has to send anything for. */
const ATTACKS = [
  ...['busy-loops', 'disk-growth', 'dns-flood-tcp', 'dns-flood-udp'],
  ...['files-and-processes', 'kernel-memory', 'user-limits'],
];

/** As many as others need. */
const OF_SANDBOX = { inotify: 50, queue: 5, timer: 4_000, process: 200, file: 10_000 };
/** A process of the host may have fewer files open. */
const OF_USER = { ...OF_SANDBOX, file: 500 };
const NOBODY = 65_534;

let service: Service;
let programs: Programs;
let mallory: Person;
let sandbox: string;
let instance: string;

beforeAll(async () => {
  service = await startService();
  instance = readFileSync(join(service.dataDir, 'instance'), 'utf8').trim();
  programs = createPrograms(service);
  mallory = await person(service, 'Mallory');
  await must(service, 'CreateSandbox', { name: 'modest', cpu: 1, memory_gb: 1, disk_gb: 2 });
  sandbox = String((await must(mallory, 'CreateSandbox', { cpu: 1, memory_gb: 1, disk_gb: 2 }))['id']);
}, 120_000);

afterAll(async () => {
  await service?.stop();
  expect(leftovers(instance)).toEqual([]);
}, 120_000);

describe('a sandbox that does its worst', () => {
  it.each(ATTACKS)(
    'by %s leaves the host its memory, and others their share of what is counted',
    async (name) => {
      const before = availableMb();
      const { url, dataDir, pid } = service;
      const attackers = await prepareAttacks([name], { service: { url, dataDir, pid }, mallory, sandbox });
      const watched = watch(pid);
      attackers.begin();
      const end = Date.now() + (SECONDS / ATTACKS.length) * 1_000;
      do {
        await sleep(LOOK_MS);
        expect(await gotten(OF_SANDBOX, (...args) => programs.inside('modest', ...args))).toEqual(OF_SANDBOX);
        expect(await gotten(OF_USER, (...args) => programs.onHost(0, ...args))).toEqual(OF_USER);
        const ofNobody = { ...OF_USER, aio: 10 };
        expect(await gotten(ofNobody, (...args) => programs.onHost(NOBODY, ...args))).toEqual(ofNobody);
      } while (Date.now() < end);
      await attackers.end();
      const { availableMb: least } = watched.stop();
      console.info(
        `${name}: memory of the host ${Math.round(before)} MB before, ${Math.round(least)} at least`,
      );
      expect(before - least).toBeLessThan(HOST_MB);
      expect(residentMb(pid), 'the service has died').toBeGreaterThan(0);
    },
    (SECONDS + 60) * 1_000,
  );
});

/** How many of each kind there were, one kind after another. */
async function gotten(
  wanted: Record<string, number>,
  take: (program: string, ...args: (string | number)[]) => Promise<string>,
): Promise<Record<string, number>> {
  const got: Record<string, number> = {};
  for (const [kind, most] of Object.entries(wanted)) {
    got[kind] = Number(await take('user-limits', kind, most, 0));
  }
  return got;
}
