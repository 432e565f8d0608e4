/** Claims about two machines on one host, of runc and of a direct start: all who look at them see the same. */
import { describe, expect, it } from 'vitest';
import type { MachineOnHost } from './machine-on-host.ts';

export const RUNTIMES = ['runc', 'direct'] as const;
export type Runtime = (typeof RUNTIMES)[number];

export interface Seen {
  /** What `programs/machine-view.py` prints inside. */
  inside: Record<string, unknown>;
  outside: MachineOnHost;
  /** What `programs/device-attempts.py` prints on the host, in the machine's group. */
  devices: { allowed: string[]; refused: string[] };
}

/** Parts of the view inside. */
const PARTS = [
  'status of a command',
  'status of the agent',
  'maps',
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

/** @param seen Both machines, once they are there. */
export function describeSameMachine(seen: () => Record<Runtime, Seen>): void {
  describe('from inside, both machines have the same', () => {
    it.each(PARTS)('%s', (part) => {
      const { runc, direct } = seen();
      expect(runc.inside[part]).toBeDefined();
      expect(direct.inside[part]).toEqual(runc.inside[part]);
    });

    it('devices, but for the group of the queues, which runc leaves to nobody', () => {
      const { runc, direct } = seen();
      const devices = runc.inside['devices'] as Record<string, unknown[]>;
      expect(devices['/dev/mqueue']).toEqual(['0o41777', 0, 65534, 0, null]);
      expect(direct.inside['devices']).toEqual({ ...devices, '/dev/mqueue': ['0o41777', 0, 0, 0, null] });
    });

    it('mounts, but for the id of a start, over which runc mounts nothing', () => {
      const { runc, direct } = seen();
      const mounts = direct.inside['mounts'] as unknown[];
      const isOfStart = (mount: unknown) => JSON.stringify(mount).includes('/proc/sys/kernel/random/boot_id');
      expect(mounts.filter(isOfStart)).toHaveLength(1);
      expect(mounts.filter((mount) => !isOfStart(mount))).toEqual(runc.inside['mounts']);
    });

    it('answer to no call at all, but for its error: the launcher’s filter gives that of a kernel without filters', () => {
      const { runc, direct } = seen();
      expect([runc.inside['no call'], direct.inside['no call']]).toEqual(['errno 1', 'errno 38']);
    });

    it('parts of the view, all of them compared', () => {
      const parts = Object.keys(seen().direct.inside).toSorted();
      expect(parts).toEqual([...PARTS, 'devices', 'mounts', 'no call'].toSorted());
    });
  });

  describe('from outside, both machines have the same', () => {
    it('environment, descriptors, working directory, cgroups and settings of PID 1', () => {
      const { namespaces: _, ...direct } = seen().direct.outside;
      const { namespaces: __, ...runc } = seen().runc.outside;
      expect(direct).toEqual(runc);
      expect(direct).toMatchObject({
        environment: ['PATH=/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin', 'HOME=/root'],
        descriptors: ['/dev/null', '/dev/null', '/dev/null', 'socket:'],
      });
    });

    it('namespaces of their own, and the time of the host', () => {
      const own = ['cgroup', 'ipc', 'mnt', 'net', 'pid', 'user', 'uts'];
      const { runc, direct } = seen();
      expect(direct.outside.namespaces).toEqual({ own, ofHost: ['time'] });
      expect(runc.outside.namespaces).toEqual({ own, ofHost: ['time'] });
    });
  });

  describe('in the group of a machine, the host’s root', () => {
    it('may use the nodes that machines have and terminals, and make none, where it was started directly', () => {
      expect(seen().direct.devices).toEqual({ allowed: ALLOWED, refused: REFUSED });
    });

    it('may use no others with runc, except that of network tunnels, and may make nodes', () => {
      const more = ['c 10:200 rw', 'b 7:0 m', 'c 1:11 m', 'c 1:3 m'];
      expect(seen().runc.devices).toEqual({
        allowed: [...ALLOWED, ...more].toSorted(),
        refused: REFUSED.filter((attempt) => !more.includes(attempt)),
      });
    });
  });
}

/** A node of the numbers 0:0 is no device: overlays show by it that a file was removed. */
export const ALLOWED = [
  'c 0:0 m',
  'c 136:0 rw',
  'c 136:77 rw',
  'c 1:3 rw',
  'c 1:5 rw',
  'c 1:7 r',
  'c 1:8 r',
  'c 1:9 r',
  'c 5:0 rw',
  'c 5:2 rw',
];
export const REFUSED = [
  'b 1:3 r',
  'b 7:0 m',
  'b 7:0 r',
  'b 7:0 rw',
  'c 10:200 rw',
  'c 10:229 rw',
  'c 10:237 rw',
  'c 1:11 m',
  'c 1:11 r',
  'c 1:3 m',
  'c 4:0 w',
  'c 5:1 w',
];
