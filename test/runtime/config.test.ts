import { describe, expect, it } from 'vitest';
import { buildConfig, type MachineConfig, openFiles } from '../../src/runtime/oci/machine/config.ts';
import type { SeccompRule } from '../../src/runtime/oci/machine/filter/rule.ts';
import { seccompRules } from '../../src/runtime/oci/machine/seccomp.ts';

const GiB = 1024 ** 3;

const machine: MachineConfig = {
  id: 'sb_0123456789abcdef',
  generation: 7,
  stagePath: '/run/sandhaven-test00/stage',
  agentName: 'digest',
  cgroupPath: '/sandhaven-test00/sb_0123456789abcdef',
  slot: { userNamespacePath: '/run/user-ns', netNamespacePath: '/run/net-ns' },
  resources: { cpu: 3, memory: 2, disk: 20, gpu: 0 },
  devices: { nodes: [], mounts: [] },
  host: {
    arch: 'x64',
    cgroupVersion: 2,
    swapAccounting: true,
    socketAccounting: false,
    maxOpenFiles: 20_000,
  },
};

interface Config {
  mounts: { destination: string; type: string; source: string; options: string[] }[];
  process: {
    args: string[];
    env: string[];
    capabilities: Record<string, string[]>;
  };
  linux: {
    namespaces: { type: string; path?: string }[];
    resources: Record<string, unknown>;
    maskedPaths: string[];
    readonlyPaths: string[];
  };
}

const build = (changes: Partial<MachineConfig> = {}): Config =>
  buildConfig({ ...machine, ...changes }) as Config;

describe('the OCI configuration of a machine', () => {
  it('joins the slot’s user and network namespaces and makes the others', () => {
    expect(build().linux.namespaces).toEqual([
      { type: 'pid' },
      { type: 'ipc' },
      { type: 'uts' },
      { type: 'mount' },
      { type: 'cgroup' },
      { type: 'user', path: '/run/user-ns' },
      { type: 'network', path: '/run/net-ns' },
    ]);
  });

  it('runs the agent with the sandbox’s id and generation, and nothing else in its environment than PATH and HOME', () => {
    const { args, env } = build().process;
    expect(args).toEqual(['/.sandhaven/agent', '--sandbox-id', machine.id, '--generation', '7']);
    expect(env.map((pair) => pair.split('=')[0])).toEqual(['PATH', 'HOME']);
  });

  it('gives no capability over the kernel, the network or other processes, and none that is inherited', () => {
    const { capabilities } = build().process;
    expect(Object.keys(capabilities).sort()).toEqual(['bounding', 'effective', 'permitted']);
    for (const set of Object.values(capabilities)) {
      expect([...set].sort()).toEqual(
        'CHOWN DAC_OVERRIDE FOWNER FSETID KILL NET_BIND_SERVICE SETFCAP SETGID SETPCAP SETUID SYS_CHROOT'
          .split(' ')
          .map((name) => `CAP_${name}`),
      );
    }
  });

  it('limits memory with swap included, processor time, processes and devices', () => {
    expect(build().linux.resources).toEqual({
      devices: [{ allow: false, access: 'rwm' }],
      memory: { limit: 2 * GiB, swap: 2 * GiB },
      cpu: { quota: 300_000, period: 100_000 },
      pids: { limit: 1024 },
    });
    const host = { ...machine.host, swapAccounting: false };
    expect(build({ host }).linux.resources['memory']).toEqual({ limit: 2 * GiB });
  });

  it('asks for no more open files than the host allows', () => {
    const files = (maxOpenFiles: number) => openFiles({ ...machine.host, maxOpenFiles });
    expect(files(20_000)).toEqual({ soft: 16_384, hard: 20_000 });
    expect(files(4_096)).toEqual({ soft: 4_096, hard: 4_096 });
    expect(files(Number.MAX_SAFE_INTEGER)).toEqual({ soft: 16_384, hard: 65_536 });
  });

  it('masks what names other machines’ disks', () => {
    expect(build().linux.maskedPaths).toEqual(
      expect.arrayContaining(['/sys/block', '/sys/devices/virtual/block', '/proc/fs', '/proc/kcore']),
    );
    expect(build().linux.readonlyPaths).toEqual(expect.arrayContaining(['/proc/sys', '/proc/sysrq-trigger']));
  });

  it('binds nothing of the host that can be written', () => {
    const writable = build().mounts.filter(({ type, options }) => type === 'bind' && !options.includes('ro'));
    for (const { source } of writable)
      expect(source).toMatch(new RegExp(`^${machine.stagePath}/(etc/|figures/|devices/dev$)`));
    for (const place of ['/sys', '/sys/fs', '/sys/fs/cgroup']) {
      expect(build().mounts.find(({ destination }) => destination === place)?.options).toContain('ro');
    }
  });

  it('shows of the file systems of the host its own cgroup alone', () => {
    const under = build().mounts.filter(({ destination }) => destination.startsWith('/sys/fs'));
    expect(under.map(({ destination, type }) => [destination, type])).toEqual([
      ['/sys/fs', 'tmpfs'],
      ['/sys/fs/cgroup', 'cgroup'],
    ]);
  });

  it('shows what the launcher has gathered of it, where there are several hierarchies', () => {
    const host = { ...machine.host, cgroupVersion: 1 as const };
    const under = build({ host }).mounts.filter(({ destination }) => destination.startsWith('/sys/fs'));
    const source = '/run/sandhaven-test00/stage/fs';
    expect(under).toEqual([{ destination: '/sys/fs', type: 'bind', source, options: ['rbind'] }]);
  });
});

describe('the system calls of a machine', () => {
  const { syscalls, architectures, defaultAction } = seccompRules('x64');
  const allowed = (name: string): SeccompRule[] =>
    syscalls.filter(({ names, action }) => names.includes(name) && action === 'SCMP_ACT_ALLOW');

  const decided = (name: string, ...values: number[]) =>
    syscalls
      .filter(({ names }) => names.includes(name))
      .filter(({ args = [] }) =>
        args.every(({ index, value, valueTwo }) => ((values[index] ?? 0) & value) >>> 0 === valueTwo),
      )
      .map(({ action, errnoRet }) => errnoRet ?? action);

  const allows = (name: string, ...values: number[]) => decided(name, ...values).includes('SCMP_ACT_ALLOW');

  it('are refused unless listed, for one architecture', () => {
    expect(defaultAction).toBe('SCMP_ACT_ERRNO');
    expect(architectures).toEqual(['SCMP_ARCH_X86_64']);
    expect(seccompRules('arm64').architectures).toEqual(['SCMP_ARCH_AARCH64']);
  });

  it.each(
    `mount umount2 move_mount open_tree fsopen fsconfig fsmount fspick mount_setattr pivot_root unshare setns keyctl
     add_key request_key bpf perf_event_open userfaultfd io_uring_setup io_uring_enter io_uring_register
     open_by_handle_at name_to_handle_at init_module finit_module delete_module kexec_load reboot swapon quotactl
     memfd_secret fanotify_init kcmp syslog acct iopl ioperm`.split(/\s+/),
  )('do not include %s', (name) => {
    expect(allowed(name)).toEqual([]);
  });

  it('let a process take from another what ptrace would let it take, and PID 1 is not to be traced', () => {
    for (const name of ['ptrace', 'pidfd_getfd']) expect(allowed(name)).toHaveLength(1);
    expect(build().process.capabilities['bounding']).not.toContain('CAP_SYS_PTRACE');
  });

  it('make sockets of four families only, and of the Internet’s only TCP, UDP and echo', () => {
    const [AF_UNIX, AF_INET, AF_INET6, AF_NETLINK, AF_PACKET] = [1, 2, 10, 16, 17];
    const made: string[] = [];
    for (let family = 0; family < 64; family++)
      for (let protocol = 0; protocol < 300; protocol++)
        if (family !== AF_UNIX && allows('socket', family, 3, protocol)) made.push(`${family} ${protocol}`);
    const [ofInet, ofInet6] = [
      [0, 1, 6, 17].map((p) => `${AF_INET} ${p}`),
      [0, 6, 17, 58].map((p) => `${AF_INET6} ${p}`),
    ];
    expect(made).toEqual([...ofInet, ...ofInet6, `${AF_NETLINK} 0`]);
    expect(allows('socket', AF_UNIX, 1, 0)).toBe(true);
    for (const [family, protocol] of [
      [AF_PACKET, 0],
      [AF_INET, 255],
    ] as const)
      expect(decided('socket', family, 3, protocol)).toEqual([]);
  });

  it('leave every command of fcntl to the kernel, locks of open files too', () => {
    expect(syscalls.filter(({ names }) => names.includes('fcntl'))).toEqual([
      { names: expect.any(Array), action: 'SCMP_ACT_ALLOW' },
    ]);
  });

  it('have no asynchronous I/O, as on a kernel without it', () => {
    for (const name of ['io_setup', 'io_submit', 'io_getevents']) {
      expect(syscalls.filter(({ names }) => names.includes(name))).toMatchObject([{ errnoRet: 38 }]);
    }
  });

  it('clone without new namespaces, and clone3 not at all', () => {
    expect(decided('clone', 0x11)).toEqual(['SCMP_ACT_ALLOW']);
    for (const namespace of [0x20000, 0x2000000, 0x4000000, 0x8000000, 0x10000000, 0x20000000, 0x40000000])
      expect(decided('clone', 0x11 | namespace)).toEqual([]);
    expect(decided('clone3')).toEqual([38]);
  });

  it('give the threads of a process one table of descriptors, in which all that it holds is counted', () => {
    const [CLONE_FILES, CLONE_THREAD] = [0x400, 0x10000];
    for (const flags of [0, CLONE_FILES, CLONE_FILES | CLONE_THREAD])
      expect(decided('clone', flags)).toEqual(['SCMP_ACT_ALLOW']);
    expect(decided('clone', CLONE_THREAD)).toEqual([]);
    expect(decided('close_range', 3, 9, 4)).toEqual(['SCMP_ACT_ALLOW']);
    expect(decided('close_range', 3, 9, 2)).toEqual([22]);
    expect(decided('close_range', 3, 9, 6)).toEqual([22]);
    expect(decided('unshare')).toEqual([]);
  });

  it('are each named once', () => {
    const plain = syscalls.filter(({ args }) => args === undefined).flatMap(({ names }) => names);
    expect(plain).toHaveLength(new Set(plain).size);
  });
});
