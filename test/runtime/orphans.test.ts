/** What a service leaves whose data directory was deleted is found and removed; what belongs to somebody is neither. */
import { spawnSync } from 'node:child_process';
import { existsSync, mkdtempSync, readFileSync, renameSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { launcher } from '../../src/app/engine/engine.ts';
import { findOrphans, removeOrphan } from '../../src/runtime/oci/orphans.ts';
import { leftovers } from '../support/host.ts';
import { bin, must, type Service, startService } from '../support/service.ts';

const parent = mkdtempSync(join(tmpdir(), 'sandhaven-orphan-'));
const dataDir = join(parent, 'data');
const moved = join(parent, 'moved');
const log = { info() {}, warn() {}, error() {} };
let service: Service;
let instance: string;

beforeAll(async () => {
  service = await startService({ dataDir });
  instance = readFileSync(join(dataDir, 'instance'), 'utf8').trim();
  await must(service, 'CreateSandbox', { name: 'left', disk_gb: 1 });
}, 120_000);

afterAll(async () => {
  await service?.kill();
  if (existsSync(moved)) renameSync(moved, dataDir);
  spawnSync(bin, ['purge', '--data-dir', dataDir, '--yes']);
  rmSync(parent, { recursive: true, force: true });
});

const found = async () => (await findOrphans()).find((orphan) => orphan.instance === instance) ?? null;

it('a service that runs, or is only stopped, is no orphan', async () => {
  renameSync(dataDir, moved);
  expect(await found()).toBeNull();
  renameSync(moved, dataDir);
  await service.kill();
  expect(await found()).toBeNull();
}, 60_000);

it('an instance without its data directory is an orphan: doctor shows it, and a purge takes all of it away', async () => {
  renameSync(dataDir, moved);
  const orphan = { instance, dataDir, machines: 1 };
  expect(await found()).toEqual(orphan);
  const listed = spawnSync(bin, ['purge', '--orphans'], { encoding: 'utf8' }).stdout;
  expect(listed).toContain(`Orphan ${instance} of ${dataDir}; sandboxes that ran: 1\n`);
  expect(spawnSync(bin, ['doctor'], { encoding: 'utf8' }).stdout).toMatch(
    new RegExp(`^warn  orphans .*${instance}`, 'm'),
  );
  expect(leftovers(instance)).not.toEqual([]);
  const removed = spawnSync(bin, ['purge', '--orphans', '--yes'], { encoding: 'utf8' }).stdout;
  expect(removed).toContain(`Removed ${instance} of ${dataDir}; sandboxes that ran: 1\n`);
  expect(leftovers(instance)).toEqual([]);
  expect(spawnSync('nft', ['list', 'tables'], { encoding: 'utf8' }).stdout).not.toContain(instance);
  expect(await found()).toBeNull();
  renameSync(moved, dataDir);
}, 60_000);

it('an orphan is not removed once it has a data directory again', async () => {
  await service.restart();
  await service.kill();
  await removeOrphan({ instance }, launcher(), log);
  expect(leftovers(instance)).not.toEqual([]);
}, 60_000);
