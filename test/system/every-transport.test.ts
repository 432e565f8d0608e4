import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { tools } from '../../src/catalog/index.ts';
import { type Service, startService } from '../support/service.ts';
import { type Parameters, type Transport, transports } from '../support/transports.ts';
import { walks } from './every-tool/index.ts';

let service: Service;

beforeAll(async () => {
  service = await startService();
}, 120_000);

afterAll(() => service?.stop());

const toolkit = tools.map(({ name }) => name).filter((name) => name.startsWith('Sandbox.'));

describe.each(Object.entries(transports))('over %s', (_name, open) => {
  const used = new Set<string>();
  let transport: Transport;

  beforeAll(async () => {
    transport = await open(service);
  });
  afterAll(() => transport?.close());

  async function ok(tool: string, parameters: Parameters = {}): Promise<Record<string, unknown>> {
    used.add(`Sandbox.${tool}`);
    const { result, problem } = await transport.invoke(tool, parameters);
    if (problem) throw new Error(`${tool}: ${JSON.stringify(problem)}`);
    return result;
  }

  async function refused(tool: string, parameters: Parameters, code: string): Promise<void> {
    const { problem } = await transport.invoke(tool, parameters);
    expect(problem).toMatchObject({ code });
    expect(problem?.['request_id']).toBeTruthy();
  }

  it('[SBX-TOOLS-02] every tool of the catalogue works', async () => {
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

    for (const walk of Object.values(walks)) await walk(ok, service);

    expect(await ok('ResizeSandbox', { sandbox, cpu: 2 })).toMatchObject({ resources: { cpu: 2 } });
    expect(await ok('SetSandboxLabels', { sandbox, labels: {} })).toMatchObject({ labels: {} });
    expect(await ok('ConfigureSandboxAuto', { sandbox, auto_stop_minutes: 0 })).toMatchObject({
      auto_stop_minutes: 0,
    });
    expect(await ok('StopSandbox', { sandbox })).toMatchObject({ state: 'stopped' });
    expect(await ok('ArchiveSandbox', { sandbox })).toMatchObject({ state: 'archived' });
    expect(await ok('StartSandbox', { sandbox })).toMatchObject({ state: 'started' });
    expect(await ok('DeleteSandbox', { sandbox })).toMatchObject({ deleted: true });

    expect([...used].sort()).toEqual(toolkit.sort());
  }, 300_000);

  it('errors are the same object, with the code of the table', async () => {
    await refused('GetSandbox', { sandbox: 'nobody' }, 'not_found');
    await refused('CreateSandbox', { cpu: 99 }, 'invalid_argument');
    await refused('RunCommand', { command: 'true' }, 'ambiguous_sandbox');
  });
});

const CHART = `
import matplotlib.pyplot as plt
plt.plot([1, 2], [3, 4])
plt.title('T')
plt.show()
print('drawn')
`;
