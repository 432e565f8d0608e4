/** Data directories that earlier versions have left: this version serves them, and nothing in them is lost. */
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { mustAct } from '../support/people.ts';
import { must, type Service, startService } from '../support/service.ts';
import { storedVersions, unpackStored } from './stored.ts';

it('there is one of the first version', () => {
  expect(storedVersions).toContain('0.1.0');
});

describe.each(storedVersions)('a data directory of %s', { timeout: 60_000 }, (version) => {
  const dataDir = mkdtempSync(join(tmpdir(), 'sandhaven-upgrade-'));
  let service: Service;

  beforeAll(async () => {
    unpackStored(version, dataDir);
    service = await startService({ dataDir });
  });

  afterAll(async () => {
    await service?.stop();
    rmSync(dataDir, { recursive: true, force: true });
  });

  it('keeps its sandboxes, with names, labels and states', async () => {
    const { sandboxes, total_count } = await must(service, 'ListSandboxes');
    expect(total_count).toBe(2);
    expect(sandboxes).toEqual(
      expect.arrayContaining([
        expect.objectContaining({ name: 'stopped', state: 'stopped', labels: { kept: 'stopped' } }),
        expect.objectContaining({ name: 'archived', state: 'archived', labels: { kept: 'archived' } }),
      ]),
    );
  });

  it.each(['stopped', 'archived'])('starts the %s one, which has its files and variables', async (name) => {
    expect(await must(service, 'StartSandbox', { sandbox: name })).toMatchObject({ state: 'started' });
    const command = 'read line < kept.txt; echo "$line, $KEPT"';
    expect(await must(service, 'RunCommand', { sandbox: name, command })).toMatchObject({
      stdout: `of ${name}, ${name}\n`,
    });
    await must(service, 'DeleteSandbox', { sandbox: name });
  });

  it('makes new sandboxes of its snapshots', async () => {
    await must(service, 'CreateSandbox', { name: 'new', snapshot: 'shell', disk_gb: 1 });
    expect(await must(service, 'RunCommand', { sandbox: 'new', command: 'echo $((6 * 7))' })).toMatchObject({
      stdout: '42\n',
    });
  });

  it('keeps users, teams and sealed credentials', async () => {
    expect((await mustAct(service, 'ListUsers'))['users']).toEqual(
      expect.arrayContaining([expect.objectContaining({ name: 'Ada', email: 'ada@example.org' })]),
    );
    expect((await mustAct(service, 'ListTeams'))['teams']).toEqual([
      expect.objectContaining({ name: 'engines' }),
    ]);
    expect((await mustAct(service, 'ListRegistries'))['registries']).toEqual([
      expect.objectContaining({ registry: 'registry.example.org', username: 'ada' }),
    ]);
  });

  it('keeps an audit log that is intact', async () => {
    expect(await mustAct(service, 'VerifyAudit')).toMatchObject({ intact: true });
    const { rows } = await mustAct(service, 'ListAudit', { action: 'CreateTeam' });
    expect(rows).toHaveLength(1);
  });

  /** @returns the number of the schema before. */
  function setSchema(number: number): number {
    const database = new DatabaseSync(join(dataDir, 'sandhaven.db'));
    const before = database.prepare('PRAGMA user_version').get()?.['user_version'];
    database.exec(`PRAGMA user_version = ${number}`);
    database.close();
    return Number(before);
  }

  it('is refused by an older version once a newer one has served it', async () => {
    await service.terminate();
    const own = setSchema(1_000);
    await expect(startService({ dataDir })).rejects.toThrow(
      /Start the newer service that wrote it, or restore a backup from before that one/,
    );
    setSchema(own);
  });
});
