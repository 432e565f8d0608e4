/** The launcher's arguments about the cgroups of a machine that it starts by itself, and the hosts that allow that. */
import { describe, expect, it } from 'vitest';
import { groupArguments } from '../../../src/runtime/oci/machine/launch-arguments.ts';
import { refusalOfDirect } from '../../../src/runtime/oci/machine/machine-runtime.ts';
import { parseDirectState } from '../../../src/runtime/oci/machine/running.ts';

const gpu = {
  path: '/dev/gpu0',
  type: 'c' as const,
  major: 195,
  minor: 0,
  access: 'rwm',
  mode: 0o666,
  uid: 0,
  gid: 0,
};
const machine = {
  resources: { cpu: 2, memory: 4, disk: 10, gpu: 1 },
  devices: { nodes: [gpu], mounts: [] },
  host: {
    arch: 'x64',
    cgroupVersion: 1 as const,
    swapAccounting: true,
    socketAccounting: true,
    maxOpenFiles: 20_000,
  },
};

const unified = { version: 2 as const, controllers: [], folder: '/group' };

function argumentsFor(...controllers: string[]): string[] {
  return groupArguments([{ version: 1, controllers, folder: '/group' }], machine);
}

const limits = (...lines: string[]): string[] => lines.flatMap((line) => ['--limit', `/group/${line}`]);

describe('the launcher makes a group in each hierarchy', () => {
  it('with a limit of memory and swap together, and one of socket buffers', () => {
    expect(argumentsFor('memory')).toEqual([
      ...['--group', '/group'],
      ...limits(
        'memory.limit_in_bytes=4294967296',
        'memory.memsw.limit_in_bytes=4294967296',
        'memory.kmem.tcp.limit_in_bytes=67108864',
      ),
    ]);
    const host = { ...machine.host, swapAccounting: false, socketAccounting: false };
    const group = { version: 1 as const, controllers: ['memory'], folder: '/group' };
    expect(groupArguments([group], { ...machine, host })).toEqual([
      ...['--group', '/group'],
      ...limits('memory.limit_in_bytes=4294967296'),
    ]);
  });

  it('with a quota of processors where both controllers share a hierarchy', () => {
    expect(argumentsFor('cpu', 'cpuacct')).toEqual([
      ...['--group', '/group'],
      ...limits('cpu.cfs_quota_us=200000'),
    ]);
  });

  it('with a number of processes, and with the processors and memory nodes of the group above', () => {
    expect(argumentsFor('pids')).toEqual(['--group', '/group', ...limits('pids.max=1024')]);
    expect(argumentsFor('cpuset')).toEqual([
      ...['--group', '/group'],
      ...['--inherit', '/group/cpuset.cpus', '--inherit', '/group/cpuset.mems'],
    ]);
  });

  it('with no device but the usual ones and those that the machine holds', () => {
    expect(argumentsFor('devices')).toEqual([
      ...['--group', '/group'],
      ...limits(
        'devices.deny=a',
        'devices.allow=c 1:3 rw',
        'devices.allow=c 1:5 rw',
        'devices.allow=c 1:7 rw',
        'devices.allow=c 1:8 rw',
        'devices.allow=c 1:9 rw',
        'devices.allow=c 5:0 rw',
        'devices.allow=c 5:2 rw',
        'devices.allow=c 136:* rw',
        'devices.allow=c 195:0 rwm',
      ),
    ]);
  });

  it('of version 2 too, where one without controllers lies beside the others', () => {
    expect(groupArguments([unified], machine)).toEqual(['--unified-group', '/group']);
  });

  it('of version 2 alone, with all limits, and with the same devices', () => {
    const onV2 = (host: { swapAccounting: boolean }) =>
      groupArguments([unified], { ...machine, host: { ...machine.host, cgroupVersion: 2, ...host } });
    const devices = ['1:3', '1:5', '1:7', '1:8', '1:9', '5:0', '5:2', '136:*'].map(
      (numbers) => `c ${numbers} rw`,
    );
    const rules = [...devices, 'c 195:0 rwm'].flatMap((rule) => ['--device-rule', rule]);
    expect(onV2({ swapAccounting: true })).toEqual([
      ...['--unified-group', '/group'],
      ...limits('pids.max=1024', 'memory.swap.max=0', 'memory.max=4294967296', 'cpu.max=200000 100000'),
      ...rules,
    ]);
    expect(onV2({ swapAccounting: false })).toEqual([
      ...['--unified-group', '/group'],
      ...limits('pids.max=1024', 'memory.max=4294967296', 'cpu.max=200000 100000'),
      ...rules,
    ]);
  });
});

describe('a direct start', () => {
  const v1 = (controllers: string[]) => ({
    mountpoint: `/c/${controllers}`,
    version: 1 as const,
    controllers,
  });

  const v2 = { mountpoint: '/c', version: 2 as const, controllers: [] };
  const kernel = (error: string | null) => async () => error;

  it('needs limits of memory and of devices by cgroup v1, where that has the memory', async () => {
    const no = kernel('Invalid argument');
    expect(await refusalOfDirect([v1(['memory']), v1(['devices']), v2], no)).toBeNull();
    expect(await refusalOfDirect([v1(['memory']), v2], kernel(null))).toBe('no cgroup limits devices here');
  });

  it('needs a kernel that takes rules about devices on cgroup v2', async () => {
    expect(await refusalOfDirect([v2], kernel(null))).toBeNull();
    expect(await refusalOfDirect([v2], kernel('Invalid argument'))).toBe(
      'the kernel takes no rules about devices for cgroup v2 (Invalid argument)',
    );
  });

  it('needs cgroups', async () => {
    expect(await refusalOfDirect([], kernel(null))).toBe('no cgroup limits memory here');
  });
});

describe('the state of a machine that was started directly', () => {
  it('is its process id and its generation', () => {
    expect(parseDirectState('{"pid":17,"generation":3}\n')).toEqual({ pid: 17, generation: 3 });
  });

  it.each(['', '{', '{}', '{"pid":"17","generation":3}', '{"pid":17}', 'null'])('is none of %j', (text) => {
    expect(parseDirectState(text)).toBeNull();
  });
});
