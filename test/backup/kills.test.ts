/** Kills at any moment: of the command, of the service and of a restore. Nothing stays frozen, and nothing half counts. */
import { existsSync, mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { requestBackup } from '../../src/app/parts/backup/backup-socket.ts';
import { inPart } from '../deep/parts.ts';
import { between, type Random, randomFrom } from '../support/random.ts';
import { must, type Service, startService } from '../support/service.ts';
import { begin, sandhaven } from './cli.ts';
import { pushSmallImage, type SmallImage } from './small-image.ts';

/** In a part many rounds, of backups that have the standard image too; elsewhere one, of what is there in two seconds. */
const isWhole = inPart('kills');
const ROUNDS = isWhole ? 15 : 1;
const MEGABYTES = isWhole ? 400 : 200;
const LAST_BACKUP_MS = isWhole ? 4_000 : 1_500;
const LAST_RESTORE_MS = isWhole ? 5_000 : 1_500;
const seed = Number(process.env['SEED'] ?? Date.now() % 1_000_000);

describe(`with SEED=${seed}, a backup`, () => {
  const work = mkdtempSync(join(tmpdir(), 'sandhaven-backup-kills-'));
  const random: Random = randomFrom(seed);
  let pushed: SmallImage | undefined;
  let service: Service;
  let id: string;
  let keyFile: string;

  const run = async (command: string): Promise<unknown> =>
    (await must(service, 'RunCommand', { sandbox: 'busy', command }))['stdout'];

  /** Returns true while the kernel holds the sandbox's processes. */
  function isFrozen(): boolean {
    const instance = readFileSync(join(service.dataDir, 'instance'), 'utf8').trim();
    const group = `sandhaven-${instance}/${id}`;
    const v1 = `/sys/fs/cgroup/freezer/${group}/freezer.state`;
    if (existsSync(v1)) return readFileSync(v1, 'utf8') !== 'THAWED\n';
    return readFileSync(`/sys/fs/cgroup/${group}/cgroup.events`, 'utf8').includes('frozen 1');
  }

  const backup = (folder: string) => begin(['backup', folder, '--data-dir', service.dataDir]);

  async function isRefused(folder: string): Promise<void> {
    const args = ['restore', folder, '--key-file', keyFile, '--data-dir', join(work, 'refused')];
    const { status, stderr } = await sandhaven(args);
    const missing = stderr.includes(`${folder} is not a folder.`);
    if (!missing) expect(stderr).toContain('it was never finished, and cannot be restored');
    expect(status).toBe(5);
  }

  beforeAll(async () => {
    pushed = isWhole ? undefined : await pushSmallImage();
    // A directory of its own: a backup packs the base image, which elsewhere is a link to the cache's.
    const own = isWhole ? { dataDir: mkdtempSync(join(tmpdir(), 'sandhaven-test-')) } : {};
    const flags = ['--gpu-kind', 'nobody.example/gpu', ...(pushed?.flags ?? [])];
    service = await startService({ ...own, flags });
    keyFile = join(service.dataDir, 'secret.key');
    const image = pushed ? { image: pushed.image } : {};
    const size = { cpu: 1, memory_gb: 1, disk_gb: 2 };
    const made = await must(service, 'CreateSandbox', { name: 'busy', ...size, ...image });
    id = String(made['id']);
    await run(`head -c ${MEGABYTES}M /dev/urandom > large; sync`);
  }, 400_000);

  afterAll(async () => {
    await service?.stop();
    await pushed?.registry.remove();
    rmSync(work, { recursive: true, force: true });
  }, 400_000);

  it('whose command is killed is none, and the service goes on', async () => {
    for (let round = 0; round < ROUNDS; round++) {
      const folder = join(work, `command-${round}`);
      const { ended, kill } = backup(folder);
      await sleep(between(random, 300, LAST_BACKUP_MS));
      kill();
      // One that was faster than the kill is whole.
      if ((await ended).status !== 0) await isRefused(folder);
      await expect.poll(isFrozen).toBe(false);
      await expect.poll(() => existsSync(join(service.dataDir, 'backup'))).toBe(false);
      expect(await run('echo here')).toBe('here\n');
    }
  }, 400_000);

  it('whose service is killed while a sandbox is frozen thaws it without the service', async () => {
    const folder = join(work, 'frozen');
    const { ended } = backup(folder);
    await expect.poll(isFrozen, { interval: 5, timeout: 20_000 }).toBe(true);
    await service.kill();
    expect((await ended).status).not.toBe(0);
    await isRefused(folder);
    await expect.poll(isFrozen, { timeout: 60_000 }).toBe(false);
    await service.restart();
    expect(existsSync(join(service.dataDir, 'backup'))).toBe(false);
    expect(await run('echo here')).toBe('here\n');
  }, 400_000);

  it('whose service is killed at any moment is none', async () => {
    for (let round = 0; round < ROUNDS; round++) {
      const folder = join(work, `service-${round}`);
      const { ended } = backup(folder);
      await sleep(between(random, 300, LAST_BACKUP_MS));
      await service.kill();
      if ((await ended).status !== 0) await isRefused(folder);
      await service.restart();
      expect(existsSync(join(service.dataDir, 'backup'))).toBe(false);
      expect(isFrozen()).toBe(false);
      expect(await run('echo here')).toBe('here\n');
    }
  }, 400_000);

  it('that nobody reads keeps others from one, and no sandbox frozen', async () => {
    const reading = new AbortController();
    const instance = readFileSync(join(service.dataDir, 'instance'), 'utf8').trim();
    await requestBackup(instance, reading.signal);
    const second = await backup(join(work, 'second')).ended;
    expect(second.stderr).toContain('A backup of this service is in progress.');
    expect(second.status).toBe(6);
    expect(await run('echo here')).toBe('here\n');
    reading.abort();
    await expect.poll(() => existsSync(join(service.dataDir, 'backup'))).toBe(false);
  }, 400_000);

  it('whose restore is killed at any moment is restored by the next', async () => {
    const folder = join(work, 'whole');
    expect((await backup(folder).ended).status).toBe(0);
    const target = join(work, 'target');
    const args = ['restore', folder, '--key-file', keyFile, '--data-dir', target];
    for (let round = 0; round < ROUNDS; round++) {
      const { ended, kill } = begin(args);
      await sleep(between(random, 300, LAST_RESTORE_MS));
      kill();
      await ended;
      // A rename puts it in place: it is there whole, though the program did not end by itself, or not at all.
      if (existsSync(target)) {
        expectWhole(target);
        rmSync(target, { recursive: true });
      }
    }
    expect(await sandhaven(args)).toMatchObject({ status: 0 });
    expectWhole(target);
  }, 400_000);

  function expectWhole(target: string): void {
    expect(existsSync(`${target}.restoring`)).toBe(false);
    expect(existsSync(join(target, 'sandboxes', id, 'disk.img'))).toBe(true);
    expect(existsSync(join(target, 'packed'))).toBe(false);
  }
});
