/**
 * A machine's root covers that of a mount namespace in which nothing of the host is. Root inside cannot take it away; where a flaw
 * of the kernel let it, it would find nothing.
 */
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { startsDirectly } from '../../runtime/host.ts';
import { must, type Service, startService } from '../../support/service.ts';
import { createPrograms } from '../programs.ts';
import { initIdOf } from './machine-on-host.ts';

describe.runIf(startsDirectly)('below the root of a machine that was started directly', () => {
  let service: Service;
  let sandbox: string;

  beforeAll(async () => {
    service = await startService({ env: { SANDHAVEN_MACHINE_RUNTIME: 'direct' } });
    sandbox = String((await must(service, 'CreateSandbox', { name: 'box', cpu: 1, memory_gb: 1 }))['id']);
  }, 120_000);

  afterAll(async () => {
    await service?.stop();
  });

  it('is an empty folder, and the kernel’s view of namespaces that nobody is in', async () => {
    const init = initIdOf(service.dataDir, sandbox);
    const below = await createPrograms(service).onHost(0, 'below-root', init);
    expect(below.trim().split('\n')).toEqual([
      '/ tmpfs',
      '/proc proc',
      '/sys sysfs',
      'processes 0',
      'links 0',
    ]);
  });

  it('nothing is in reach of root inside, who may change its root: each way up ends at the machine’s', async () => {
    const seen = await createPrograms(service).inside('box', 'above-root');
    expect(seen.trim()).toBe('the same root');
  });
});
