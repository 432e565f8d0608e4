/** Every tool of the Sandbox toolkit, from the creation of a sandbox to its end. */
import { expect } from 'vitest';
import type { Service } from '../../support/service.ts';
import { walks } from './index.ts';
import type { Ok } from './walk.ts';

/**
 * There must be no other sandbox, since most calls name none.
 * @param areas Those that have a file of their own and are walked too.
 */
export async function everyTool(
  ok: Ok,
  service: Service,
  areas: Partial<typeof walks> = walks,
): Promise<void> {
  const created = await ok('CreateSandbox', {
    name: 'the one',
    labels: { made: 'here' },
    env_vars: { COLOUR: 'sand' },
    cpu: 1,
    memory_gb: 1,
    disk_gb: 1,
  });
  const sandbox = String(created['id']);
  expect(await ok('GetSandbox', { sandbox: 'the one' })).toMatchObject({
    id: sandbox,
    env_vars: { COLOUR: 'sand' },
  });
  expect(await ok('ListSandboxes', { labels: { made: 'here' } })).toMatchObject({ total_count: 1 });
  expect(await ok('ListRegions')).toMatchObject({ regions: [{ id: 'local' }] });
  expect(await ok('WhoAmI')).toMatchObject({ name: 'admin', email: 'admin@localhost' });

  expect(await ok('RunCommand', { command: 'echo $COLOUR; pwd' })).toMatchObject({
    stdout: 'sand\n/workspace\n',
  });
  const ran = await ok('RunCode', { code: CHART });
  expect(ran).toMatchObject({ stdout: 'drawn\n', exit_code: 0, charts: [{ type: 'line', title: 'T' }] });

  expect(await ok('WriteFile', { path: 'a/b.txt', content: 'one\ntwo\n' })).toMatchObject({
    created: true,
  });
  expect(await ok('ReadFile', { path: 'a/b.txt', start_line: 2 })).toMatchObject({ content: 'two\n' });
  expect(await ok('GetFileInfo', { path: 'a/b.txt' })).toMatchObject({ type: 'file', size: 8 });
  expect(await ok('ListFiles', { path: 'a' })).toMatchObject({
    files: [{ name: 'b.txt' }],
    has_more: false,
  });
  expect(await ok('FindFiles', { pattern: '*.txt' })).toMatchObject({ paths: ['a/b.txt'] });
  expect(await ok('CreateFolder', { path: 'c', mode: '700' })).toMatchObject({ created: true });
  await ok('MoveFile', { source: 'a/b.txt', destination: 'c/b.txt' });
  expect(await ok('DeleteFile', { path: 'c', recursive: true })).toMatchObject({ deleted: true });

  for (const walk of Object.values(areas)) await walk?.(ok, service);

  expect(await ok('ResizeSandbox', { sandbox, cpu: 2 })).toMatchObject({ resources: { cpu: 2 } });
  expect(await ok('SetSandboxLabels', { sandbox, labels: {} })).toMatchObject({ labels: {} });
  expect(await ok('ConfigureSandboxAuto', { sandbox, auto_stop_minutes: 0 })).toMatchObject({
    auto_stop_minutes: 0,
  });
  expect(await ok('StopSandbox', { sandbox })).toMatchObject({ state: 'stopped' });
  expect(await ok('ArchiveSandbox', { sandbox })).toMatchObject({ state: 'archived' });
  expect(await ok('StartSandbox', { sandbox })).toMatchObject({ state: 'started' });
  expect(await ok('DeleteSandbox', { sandbox })).toMatchObject({ deleted: true });
}

const CHART = `
import matplotlib.pyplot as plt
plt.plot([1, 2], [3, 4])
plt.title('T')
plt.show()
print('drawn')
`;
