/**
 * Stores a data directory of this version, its agent within, for the tests of later versions: run it once before a release,
 * `node test/upgrade/make-stored.ts`, and never change what it has stored. The keys in there open nothing else.
 */
import { execFileSync } from 'node:child_process';
import { mkdtempSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { version } from '../../src/home.ts';
import { defaultCacheDir } from '../../src/runtime/images/cache-dir.ts';
import { readImageRecord } from '../../src/runtime/images/registry/record.ts';
import { startRegistry } from '../images/registry/registry.ts';
import { shellLayer } from '../images/shell-image.ts';
import { mustAct } from '../support/people.ts';
import { must, type Service, startService } from '../support/service.ts';

const stored = join(import.meta.dirname, 'stored');

await using cleanup = new AsyncDisposableStack();
const dataDir = mkdtempSync(join(tmpdir(), 'sandhaven-stored-'));
const registry = await startRegistry();
cleanup.defer(() => registry.remove());
const service = await startService({ dataDir, flags: ['--registry-allow', `all,${registry.address}`] });
cleanup.defer(() => service.stop());
await registry.push('shell:1', { layers: [shellLayer] });
await fill(service, `${registry.address}/shell:1`);
await service.terminate();
await pack(dataDir);

/** One row of each kind that an upgrade must keep, and disks that are stopped and archived. */
async function fill(to: Service, image: string): Promise<void> {
  await must(to, 'CreateSnapshot', { name: 'shell', image, resources: { cpu: 1, memory: 1, disk: 1 } });
  while ((await must(to, 'GetSnapshot', { snapshot: 'shell' }))['state'] !== 'active')
    await new Promise((resolve) => setTimeout(resolve, 100));
  for (const name of ['stopped', 'archived']) {
    const labels = { kept: name };
    await must(to, 'CreateSandbox', {
      name,
      snapshot: 'shell',
      labels,
      env_vars: { KEPT: name },
      disk_gb: 1,
    });
    await must(to, 'WriteFile', { sandbox: name, path: '/workspace/kept.txt', content: `of ${name}\n` });
    await must(to, 'StopSandbox', { sandbox: name });
  }
  await must(to, 'ArchiveSandbox', { sandbox: 'archived' });
  const member = 'ada@example.org';
  await mustAct(to, 'CreateUser', { name: 'Ada', email: member, quota_sandboxes: 7 });
  await mustAct(to, 'CreateKey', { user: member, name: 'laptop' });
  await mustAct(to, 'CreateTeam', { name: 'engines' });
  await mustAct(to, 'AddTeamMember', { team: 'engines', user: member });
  await mustAct(to, 'AddRegistryCredentials', {
    ...{ registry: 'registry.example.org', username: 'ada', password: 'stored-canary' },
  });
}

/** Without the base image, which each machine has, and the programs of the other one, which tests take from there. */
async function pack(folder: string): Promise<void> {
  const file = join(stored, `${version}.tar.zst`);
  const base = (await readImageRecord(join(defaultCacheDir(), 'base/current')))?.digest.replace(
    'sha256:',
    '',
  );
  const left = [`images/${base}`, 'images/*/rootfs/*', 'images/blobs/*', 'pool'].map(
    (path) => `--exclude=./${path}`,
  );
  const how = ['--sparse', '--numeric-owner', '--xattrs', '--use-compress-program=zstd -19'];
  execFileSync('tar', ['--create', ...how, ...left, '--file', file, '--directory', folder, '.']);
}
