/** A machine that the launcher starts by itself is the one that runc would have started, for all who look from inside. */
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { startsDirectly } from '../../runtime/host.ts';
import { must, type Service, startService } from '../../support/service.ts';
import { createPrograms } from '../programs.ts';
import { machineOf } from './machine-on-host.ts';

const RUNTIMES = ['runc', 'direct'] as const;
type Runtime = (typeof RUNTIMES)[number];
type View = Record<string, unknown>;

const services: Service[] = [];
const inside: Partial<Record<Runtime, View>> = {};
const outside: Partial<Record<Runtime, ReturnType<typeof machineOf>>> = {};

beforeAll(async () => {
  for (const runtime of RUNTIMES) {
    const service = await startService({ env: { SANDHAVEN_MACHINE_RUNTIME: runtime } });
    services.push(service);
    const made = await must(service, 'CreateSandbox', { name: 'box', cpu: 1, memory_gb: 1, disk_gb: 1 });
    outside[runtime] = machineOf(service.dataDir, String(made['id']));
    inside[runtime] = JSON.parse(await createPrograms(service).inside('box', 'machine-view')) as View;
  }
}, 240_000);

afterAll(async () => {
  for (const service of services) await service.stop();
});

/** Parts of the view in `programs/machine-view.py`. */
const PARTS = [
  'status of a command',
  'status of the agent',
  'maps',
  'mounts',
  'limits',
  'sysctls',
  'cgroup files',
  'cgroup values',
  'out of memory',
  'session',
  'command line',
  'names',
  'places',
  'masked',
  'read-only',
  'node',
  'calls',
  'other calls',
];

describe.runIf(startsDirectly)('from inside, both machines have the same', () => {
  it.each(PARTS)('%s', (part) => {
    expect(inside.runc?.[part]).toBeDefined();
    expect(inside.direct?.[part]).toEqual(inside.runc?.[part]);
  });

  it('devices, but for the group of the queues, which runc leaves to nobody', () => {
    const devices = inside.runc?.['devices'] as Record<string, unknown[]>;
    const queues = devices['/dev/mqueue'];
    expect(queues).toEqual(['0o41777', 0, 65534, 0, null]);
    expect(inside.direct?.['devices']).toEqual({ ...devices, '/dev/mqueue': ['0o41777', 0, 0, 0, null] });
  });

  it('answer to no call at all, but for its error: the launcher’s filter gives that of a kernel without filters', () => {
    expect([inside.runc?.['no call'], inside.direct?.['no call']]).toEqual(['errno 1', 'errno 38']);
  });

  it('parts of the view, all of them compared', () => {
    expect(Object.keys(inside.direct ?? {}).toSorted()).toEqual([...PARTS, 'devices', 'no call'].toSorted());
  });
});

describe.runIf(startsDirectly)('from outside, both machines have the same', () => {
  it('environment, descriptors, working directory, cgroups and settings of PID 1', () => {
    const { devices: _, namespaces: __, ...direct } = outside.direct ?? {};
    const { devices: ___, namespaces: ____, ...runc } = outside.runc ?? {};
    expect(direct).toEqual(runc);
    expect(direct).toMatchObject({
      environment: ['PATH=/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin', 'HOME=/root'],
      descriptors: ['/dev/null', '/dev/null', '/dev/null', 'socket:'],
    });
  });

  it('namespaces of their own, and the time of the host', () => {
    const own = ['cgroup', 'ipc', 'mnt', 'net', 'pid', 'user', 'uts'];
    expect(outside.direct?.namespaces).toEqual({ own, ofHost: ['time'] });
    expect(outside.runc?.namespaces).toEqual({ own, ofHost: ['time'] });
  });
});

describe.runIf(startsDirectly)('of the host’s devices', () => {
  it('a machine started directly may use the nodes that it has and terminals, and make none', () => {
    expect(outside.direct?.devices).toEqual([
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

  it('one of runc may use no other, except that of network tunnels, for which it has no node', () => {
    const used = (outside.runc?.devices ?? []).filter((rule) => !rule.endsWith(':* m'));
    const without = used.map((rule) => rule.replace('rwm', 'rw')).filter((rule) => rule !== 'c 10:200 rw');
    expect(without.toSorted()).toEqual(outside.direct?.devices.toSorted());
  });
});
