/** A backup of a running service, restored to another data directory, whose service has everything again. */
import { existsSync, mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest';
import { mustAct, type Person, person } from '../support/people.ts';
import { call, must, type Service, startService } from '../support/service.ts';
import { sandhaven } from './cli.ts';
import { pushSmallImage, type SmallImage } from './small-image.ts';

const SIZE = { cpu: 1, memory_gb: 1, disk_gb: 1 };

describe('a backup of a running service', () => {
  const work = mkdtempSync(join(tmpdir(), 'sandhaven-backup-'));
  const folder = join(work, 'folder');
  let pushed: SmallImage;
  let service: Service;
  let ada: Person;
  const restored: Service[] = [];
  const digests = new Map<string, string>();

  const output = async (of: Service, sandbox: string, command: string): Promise<string> =>
    String((await must(of, 'RunCommand', { sandbox, command }))['stdout']);

  /** Of the writer, which counts in bursts, and slowly once a backup was made meanwhile. */
  const lines = async (): Promise<number> => Number(await output(service, 'writing', 'wc -l < counted'));

  async function startRestored(dataDir: string): Promise<Service> {
    const started = await startService({ dataDir, flags: ['--gpu-kind', 'nobody.example/gpu'] });
    restored.push(started);
    return started;
  }

  beforeAll(async () => {
    pushed = await pushSmallImage();
    service = await startService({ flags: ['--gpu-kind', 'nobody.example/gpu', ...pushed.flags] });
    const small = { image: pushed.image, ...SIZE };
    for (const name of ['writing', 'stopped', 'archived']) {
      await must(service, 'CreateSandbox', { name, ...small, env_vars: { SECRET: `of ${name}` } });
      digests.set(name, await output(service, name, 'head -c 2M /dev/urandom > kept; sha256sum kept'));
    }
    await must(service, 'SnapshotSandbox', { sandbox: 'stopped', name: 'point' });
    await output(service, 'stopped', 'echo later > later');
    await must(service, 'StopSandbox', { sandbox: 'stopped' });
    await must(service, 'StopSandbox', { sandbox: 'archived' });
    await must(service, 'ArchiveSandbox', { sandbox: 'archived' });
    await must(service, 'CreateSandbox', { name: 'ephemeral', ephemeral: true, ...small });
    const pause = 'if [ -e calm ]; then sleep 0.1; elif [ $((i % 1000)) = 0 ]; then sleep 0.02; fi';
    const writer = `i=0; while :; do i=$((i+1)); echo $i; ${pause}; done > counted`;
    await must(service, 'RunCommand', {
      sandbox: 'writing',
      command: `nohup sh -c '${writer}' > /dev/null 2>&1 &`,
    });
    await vi.waitFor(async () => expect(await lines()).toBeGreaterThan(1_000), 20_000);
    ada = await person(service, 'Ada');
  }, 300_000);

  afterAll(async () => {
    for (const one of [service, ...restored]) await one?.stop();
    await pushed?.registry.remove();
    rmSync(work, { recursive: true, force: true });
  }, 300_000);

  it('is made while it serves, and leaves no sandbox frozen', async () => {
    let hasEnded = false;
    const ending = sandhaven(['backup', folder, '--data-dir', service.dataDir]).finally(() => {
      hasEnded = true;
    });
    while (!hasEnded) {
      expect((await call(service, 'ListSandboxes')).status).toBe(200);
      await sleep(50);
    }
    const { status, stdout, stderr } = await ending;
    expect(stderr).toMatch(/^1 sandboxes, .+: sb_/);
    expect(stdout.toString()).toMatch(/^Finished: 3 sandboxes, /);
    expect(status).toBe(0);
    expect(readdirSync(folder).toSorted()).toEqual([
      'audit-checkpoint',
      'captures',
      'images',
      'manifest.json',
      'sandboxes',
      'sandhaven.db.zst',
    ]);
    expect(existsSync(join(service.dataDir, 'backup'))).toBe(false);
    const before = await lines();
    await expect.poll(lines).toBeGreaterThan(before);
    await output(service, 'writing', 'touch calm');
  }, 300_000);

  it('is noted in the audit log', async () => {
    const noted = () => mustAct(service, 'ListAudit', { action: 'service.backup' });
    await expect
      .poll(noted)
      .toMatchObject({ rows: [{ outcome: 'ok', transport: 'service', user_id: null }] });
  });

  it('holds no secret key, and is not restored without it', async () => {
    const key = readFileSync(join(service.dataDir, 'secret.key'));
    for (const name of readdirSync(folder, { recursive: true, withFileTypes: true })) {
      if (name.isFile()) expect(readFileSync(join(name.parentPath, name.name)).includes(key)).toBe(false);
    }
    const target = join(work, 'without-key');
    const { status, stderr } = await sandhaven(['restore', folder, '--data-dir', target]);
    expect(stderr).toContain('The backup has no secret key.');
    expect(stderr).toContain('--key-file FILE');
    expect(status).toBe(5);
    expect(readdirSync(work)).toEqual(['folder']);
  }, 300_000);

  it('starts every sandbox again under another instance, with its files', async () => {
    const dataDir = join(work, 'restored');
    const keyFile = join(service.dataDir, 'secret.key');
    const args = ['restore', folder, '--key-file', keyFile, '--data-dir', dataDir];
    const { status, stderr, stdout } = await sandhaven(args);
    expect(status, stderr).toBe(0);
    expect(stdout.toString()).toContain('3 sandboxes');
    // Sandboxes start where nobody has built their image.
    const images = readdirSync(join(dataDir, 'images')).filter((name) => name.length === 64);
    expect(images).toHaveLength(1);
    expect(existsSync(join(dataDir, 'images', images[0] ?? '', 'rootfs/usr/bin/env'))).toBe(true);
    const other = await startRestored(dataDir);
    expect(readFileSync(join(dataDir, 'instance'))).not.toEqual(
      readFileSync(join(service.dataDir, 'instance')),
    );
    const { sandboxes } = (await must(other, 'ListSandboxes')) as { sandboxes: Record<string, unknown>[] };
    const states = Object.fromEntries(sandboxes.map(({ name, state }) => [name, state]));
    expect(states).toEqual({ writing: 'stopped', stopped: 'stopped', archived: 'archived' });
    expect(await must(other, 'GetSandbox', { sandbox: 'writing' })).toMatchObject({
      state_reason: 'It was restored from a backup, in which it ran.',
    });
    for (const [name, digest] of digests) {
      await must(other, 'StartSandbox', { sandbox: name });
      expect(await output(other, name, 'sha256sum kept')).toBe(digest);
      expect(await output(other, name, 'echo $SECRET')).toBe(`of ${name}\n`);
    }
    await must(other, 'CreateSandbox', { name: 'from point', snapshot: 'point' });
    expect(await output(other, 'from point', 'sha256sum kept; [ -e later ] || echo none')).toBe(
      `${digests.get('stopped')}none\n`,
    );
    await must(other, 'DeleteSandbox', { sandbox: 'from point' });
    const gaps = `mawk '$1 != NR { bad++ } END { print bad + 0, (NR > 1000) }' counted`;
    expect(await output(other, 'writing', gaps)).toBe('0 1\n');
    expect(await mustAct(other, 'VerifyAudit')).toMatchObject({
      intact: true,
      fault_count: 0,
      events_lost: 0,
    });
    // The keys of before still open the service.
    for (const { apiKey } of [service, ada])
      expect((await call({ url: other.url, apiKey }, 'ListSandboxes')).status).toBe(200);
  }, 300_000);

  it('is one stream, with keys, that is restored as it comes', async () => {
    const args = ['backup', '-', '--with-keys', '--data-dir', service.dataDir];
    const { status, stdout, stderr } = await sandhaven(args);
    expect({ status, stderr }).toEqual({
      status: 0,
      stderr: expect.stringContaining('Finished: 3 sandboxes'),
    });
    const target = join(work, 'streamed');
    const half = await sandhaven(
      ['restore', '-', '--data-dir', target],
      stdout.subarray(0, stdout.length / 2),
    );
    expect(half.stderr).toContain('the stream ends too early');
    expect(readdirSync(work).toSorted()).toEqual(['folder', 'restored']);
    const whole = await sandhaven(['restore', '-', '--json', '--data-dir', target], stdout);
    expect(JSON.parse(whole.stdout.toString())).toMatchObject({ sandboxes: 3, left_out: [] });
    expect(readFileSync(join(target, 'api-key'), 'utf8').trim()).toBe(service.apiKey);
    const again = await sandhaven(['restore', '-', '--data-dir', target], stdout);
    expect(again.stderr).toContain('is not empty');
    expect(again.status).toBe(5);
  }, 300_000);

  it('is made without the service too, and names a sandbox that it has nothing of', async () => {
    const { id } = await must(service, 'GetSandbox', { sandbox: 'archived' });
    await service.terminate();
    rmSync(join(service.dataDir, 'sandboxes', String(id), 'archive.tar.zst'));
    const target = join(work, 'offline');
    const { status, stdout } = await sandhaven(['backup', target, '--data-dir', service.dataDir]);
    expect(stdout.toString()).toContain(`Left out: ${id}. Its archive is missing.\nFinished: 2 sandboxes, `);
    expect(status).toBe(1);
    expect(existsSync(join(target, 'manifest.json'))).toBe(true);
    await service.restart();
    const before = await lines();
    await expect.poll(lines).toBeGreaterThan(before);
  }, 300_000);
});
