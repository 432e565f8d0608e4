/** A machine that the launcher starts by itself is the one that runc would have started, for all who look at it. */
import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { startsDirectly } from '../../runtime/host.ts';
import { must, type Service, startService } from '../../support/service.ts';
import { createPrograms } from '../programs.ts';
import { describeSameMachine, RUNTIMES, type Runtime, type Seen } from './compared.ts';
import { deviceGroupOf, machineOf } from './machine-on-host.ts';

const LIST = 'devices.list';
const services: Service[] = [];
const seen: Partial<Record<Runtime, Seen>> = {};
/** Folders of the machines' groups. */
const groups: Partial<Record<Runtime, string>> = {};

describe.runIf(startsDirectly)('on this host', () => {
  beforeAll(async () => {
    for (const runtime of RUNTIMES) {
      const service = await startService({ env: { SANDHAVEN_MACHINE_RUNTIME: runtime } });
      services.push(service);
      const made = await must(service, 'CreateSandbox', { name: 'box', cpu: 1, memory_gb: 1, disk_gb: 1 });
      const [id, programs] = [String(made['id']), createPrograms(service)];
      const group = deviceGroupOf(service.dataDir, id);
      groups[runtime] = group;
      seen[runtime] = {
        outside: machineOf(service.dataDir, id),
        inside: JSON.parse(await programs.inside('box', 'machine-view')),
        devices: JSON.parse(await programs.onHost(0, 'device-attempts', group)),
      };
    }
  }, 240_000);

  afterAll(async () => {
    for (const service of services) await service.stop();
  });

  describeSameMachine(() => seen as Record<Runtime, Seen>);

  describe.runIf(existsSync(`/sys/fs/cgroup/devices/${LIST}`))('the kernel lists as devices', () => {
    const listed = (runtime: Runtime): string[] =>
      readFileSync(join(groups[runtime] ?? '', LIST), 'utf8')
        .trim()
        .split('\n');

    it('the nodes that a machine has and terminals, where it was started directly', () => {
      expect(listed('direct')).toEqual([
        'c 1:3 rw',
        'c 1:5 rw',
        'c 1:7 rw',
        'c 1:8 rw',
        'c 1:9 rw',
        'c 5:0 rw',
        'c 5:2 rw',
        'c 136:* rw',
      ]);
    });

    it('no other with runc, except that of network tunnels, for which it has no node', () => {
      const used = listed('runc').filter((rule) => !rule.endsWith(':* m'));
      const without = used.map((rule) => rule.replace('rwm', 'rw')).filter((rule) => rule !== 'c 10:200 rw');
      expect(without.toSorted()).toEqual(listed('direct').toSorted());
    });
  });
});
