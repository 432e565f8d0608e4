import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { put, type Registry, startRegistry } from '../../images/registry/registry.ts';
import { shellLayer } from '../../images/shell-image.ts';
import { call, must, type Service, startService } from '../../support/service.ts';

let registry: Registry;
let service: Service;

beforeAll(async () => {
  registry = await startRegistry();
  await registry.push('small:1', {
    layers: [shellLayer],
    config: ['--config.env', 'FLAVOUR=salt', '--config.workingdir', '/etc'],
  });
  service = await startService({ flags: ['--registry-allow', `all,127.0.0.1:9,${registry.address}`] });
}, 120_000);

afterAll(async () => {
  await service?.stop();
  await registry?.remove();
});

describe('a sandbox from a container image', () => {
  const create = (parameters: Record<string, unknown> = {}) =>
    call(service, 'CreateSandbox', { image: `${registry.address}/small:1`, disk_gb: 1, ...parameters });

  it('[SBX-CREATE-10] [WIRE-BOX-08] [WIRE-EXEC-04] [WIRE-EXEC-14] has its files and environment, sh for bash, and reports the missing parts', async () => {
    const { body } = await create();
    expect(body).toMatchObject({ state: 'started', image: `${registry.address}/small:1`, snapshot: null });
    const sandbox = body['id'];
    const run = (command: string) => must(service, 'RunCommand', { sandbox, command });
    expect(await run('echo $FLAVOUR; pwd; id -u')).toMatchObject({
      stdout: 'salt\n/workspace\n0\n',
      exit_code: 0,
    });
    expect(await must(service, 'ReadFile', { sandbox, path: '/etc/motd' })).toMatchObject({
      content: 'hello from the image',
    });
    const code = await call(service, 'RunCode', { sandbox, code: 'print(1)' });
    expect(code.body).toMatchObject({ code: 'failed_precondition' });
    expect(code.body['detail']).toContain('python3');
    await must(service, 'StopSandbox', { sandbox });
    await must(service, 'ArchiveSandbox', { sandbox });
    await must(service, 'StartSandbox', { sandbox });
    expect(await run('echo again')).toMatchObject({ stdout: 'again\n' });
    await must(service, 'DeleteSandbox', { sandbox });
  }, 60_000);

  it('[WIRE-SNAP-07] reports progress while its image is looked up or pulled', async () => {
    await registry.push('small:2', { layers: [(folder) => put(folder, 'only/this')] });
    const response = await fetch(`${service.url}/v1/tools/Sandbox.CreateSandbox`, {
      method: 'POST',
      headers: {
        authorization: `Bearer ${service.apiKey}`,
        'content-type': 'application/json',
        accept: 'text/event-stream',
      },
      body: JSON.stringify({ image: `${registry.address}/small:2`, name: 'streamed', disk_gb: 1 }),
    });
    const events = await response.text();
    expect(events).toMatch(/event: progress\ndata: .*small:2/);
    expect(events).toMatch(/event: result\ndata: .*"name":"streamed"/);
    await must(service, 'DeleteSandbox', { sandbox: 'streamed' });
  }, 60_000);

  it('names what is wrong with an image that cannot be had, and leaves nothing behind', async () => {
    expect((await create({ image: 'UPPER/case' })).body).toMatchObject({
      code: 'invalid_argument',
      parameter: 'image',
    });
    expect((await create({ image: '--help' })).body).toMatchObject({ code: 'invalid_argument' });
    expect((await create({ image: `${registry.address}/small:none` })).body).toMatchObject({
      code: 'not_found',
      resource: 'image',
    });
    expect((await create({ image: '127.0.0.1:9/none' })).body).toMatchObject({
      code: 'unavailable',
      retryable: true,
    });
    expect((await create({ image: '127.0.0.1:10/none' })).body).toMatchObject({
      code: 'permission_denied',
      hint: expect.stringContaining('--registry-allow all,127.0.0.1:10'),
    });
    expect(await must(service, 'ListSandboxes')).toMatchObject({ total_count: 0 });
  }, 60_000);
});
