/**
 * Ways out of a sandbox. Each is a program for the sandbox that prints ESCAPED when it succeeded, and something
 * else when it was stopped; a program that ends without a word counts as stopped only where nothing else can be
 * seen. `{{…}}` are facts of the host that an attacker might guess.
 */
export interface Attempt {
  name: string;
  language: 'bash' | 'python';
  program: string;
}

/** For a shell in the sandbox. */
export function commandOf({ language, program }: Attempt, facts: Record<string, string>): string {
  const text = program.replaceAll(/\{\{(\w+)\}\}/g, (_, name: string) => {
    const fact = facts[name];
    if (fact === undefined) throw new Error(`no fact of the host is named ${name}`);
    return fact;
  });
  return language === 'bash' ? text : `python3 - <<'PROGRAM'\n${text}\nPROGRAM`;
}

const bash = (name: string, program: string): Attempt => ({ name, language: 'bash', program });
const python = (name: string, program: string): Attempt => ({
  name,
  language: 'python',
  program: PRELUDE + program,
});

/** `must_fail` runs a raw system call; anything but an error is an escape. */
const PRELUDE = `
import ctypes, os, socket, struct, sys
libc = ctypes.CDLL(None, use_errno=True)
def must_fail(what, number, *args):
    result = libc.syscall(ctypes.c_long(number), *args)
    if result != -1:
        print('ESCAPED', what)
    else:
        print('stopped', what, os.strerror(ctypes.get_errno()))
def must_raise(what, work):
    try:
        print('ESCAPED', what, work())
    except Exception as error:
        print('stopped', what, error)
`;

export const attempts: Attempt[] = [
  bash(
    'read a host file through a symlink in the workspace',
    `
    ln -sf /proc/1/root{{marker}} link; cat link 2>&1 | grep -q {{secret}} && echo ESCAPED || echo stopped`,
  ),
  bash(
    'reach the host root through the root of PID 1',
    `
    test -e /proc/1/root{{marker}} && echo ESCAPED || echo stopped`,
  ),
  bash(
    'reach the host root through dot-dot',
    `
    test -e ../../../../../../../../../..{{marker}} && echo ESCAPED || echo stopped`,
  ),
  bash('write to /proc/sys', `echo 1 2>/dev/null > /proc/sys/kernel/panic && echo ESCAPED || echo stopped`),
  bash(
    'set core_pattern to a program',
    `
    echo '|/bin/true' 2>/dev/null > /proc/sys/kernel/core_pattern && echo ESCAPED || echo stopped`,
  ),
  bash('trigger sysrq', `echo h 2>/dev/null > /proc/sysrq-trigger && echo ESCAPED || echo stopped`),
  bash(
    'write to /sys',
    `
    for f in /sys/kernel/uevent_helper /sys/power/state /sys/module/*/parameters/*; do
      echo 1 2>/dev/null > $f && echo ESCAPED $f; done; echo stopped`,
  ),
  bash(
    'see the disks of other sandboxes in /sys',
    `
    cat /sys/block/*/loop/backing_file /sys/devices/virtual/block/*/loop/backing_file 2>/dev/null | grep . && echo ESCAPED || echo stopped`,
  ),
  bash(
    'read kernel memory or keys',
    `
    for f in /proc/kcore /proc/keys /proc/timer_list /dev/mem /dev/kmem /dev/port; do
      head -c 16 $f 2>/dev/null | grep -q . && echo ESCAPED $f; done; echo stopped`,
  ),
  bash('mount a file system', `mount -t tmpfs none /mnt 2>/dev/null && echo ESCAPED || echo stopped`),
  bash('remount the root', `mount -o remount,rw,dev,suid / 2>/dev/null && echo ESCAPED || echo stopped`),
  bash('unmount what masks /proc', `umount /proc/kcore 2>/dev/null && echo ESCAPED || echo stopped`),
  bash(
    'change the agent',
    `
    chmod u+w /.sandhaven/agent 2>/dev/null; (echo x >> /.sandhaven/agent) 2>/dev/null && echo ESCAPED || echo stopped
    mv /.sandhaven/agent /tmp/agent 2>/dev/null && echo ESCAPED || echo stopped`,
  ),
  bash('make a new user namespace', `unshare -U true 2>/dev/null && echo ESCAPED || echo stopped`),
  bash('make a new mount namespace', `unshare -m true 2>/dev/null && echo ESCAPED || echo stopped`),
  bash('make a new network namespace', `unshare -n true 2>/dev/null && echo ESCAPED || echo stopped`),
  bash(
    'enter the namespaces of PID 1 by setns',
    `nsenter -t 1 -n -m true 2>/dev/null && echo ESCAPED || echo stopped`,
  ),
  bash(
    'make a block device node and read the host disk',
    `
    mknod /workspace/disk b {{diskMajor}} {{diskMinor}} 2>/dev/null && head -c 1 /workspace/disk 2>/dev/null | xxd | grep -q . && echo ESCAPED || echo stopped`,
  ),
  bash(
    'make a character device node for memory',
    `
    mknod /workspace/mem c 1 1 2>/dev/null && head -c 1 /workspace/mem 2>/dev/null | xxd | grep -q . && echo ESCAPED || echo stopped`,
  ),
  bash('kill PID 1', `kill -KILL 1 2>/dev/null; sleep 0.2; kill -0 1 && echo stopped || echo ESCAPED`),
  bash(
    'stop PID 1',
    `kill -STOP 1 2>/dev/null; grep -q '^State:.T' /proc/1/status && echo ESCAPED || echo stopped`,
  ),
  bash(
    'read the memory of the agent',
    `
    head -c 1 /proc/1/mem 2>/dev/null | xxd | grep -q . && echo ESCAPED || echo stopped
    cat /proc/1/maps 2>/dev/null | grep -q . && echo ESCAPED || echo stopped`,
  ),
  bash(
    'read the environment of the agent',
    `
    cat /proc/1/environ 2>/dev/null | grep -q . && echo ESCAPED || echo stopped`,
  ),
  bash(
    'take the descriptors of the agent',
    `
    for n in $(seq 0 64); do
      readlink /proc/1/fd/$n 2>/dev/null | grep -q . && echo ESCAPED link $n
      (exec 9<>/proc/1/fd/$n) 2>/dev/null && echo ESCAPED open $n; done; echo stopped`,
  ),
  bash(
    'raise its own limits',
    `
    ulimit -n 10000000 2>/dev/null && echo ESCAPED || echo stopped
    echo -1000 2>/dev/null > /proc/self/oom_score_adj && echo ESCAPED || echo stopped`,
  ),
  bash(
    'write to a cgroup',
    `
    for f in $(find /sys/fs/cgroup -name 'cgroup.procs' -o -name 'release_agent' 2>/dev/null); do
      echo 0 2>/dev/null > $f && echo ESCAPED $f; done; echo stopped`,
  ),
  bash(
    'find the host in its own mounts',
    `
    grep -E '{{dataDir}}|disk.img' /proc/self/mountinfo && echo ESCAPED || echo stopped`,
  ),
  bash(
    'run a setuid program of another user as the host root',
    `
    cp /bin/bash /workspace/sh && chown 0:0 /workspace/sh && chmod 4755 /workspace/sh && /workspace/sh -p -c 'cat /proc/self/uid_map' | awk '$2 == 0 { print "ESCAPED" }'; echo stopped`,
  ),

  python(
    'connect to the host loopback through its own',
    `
must_raise('loopback', lambda: socket.create_connection(('127.0.0.1', {{hostPort}}), 2))`,
  ),
  python(
    'connect to the host by its addresses',
    `
for address in {{hostAddresses}}:
    must_raise(address, lambda: socket.create_connection((address, {{hostPort}}), 2))`,
  ),
  python(
    'connect to the service by the gateway',
    `
gateway = [l.split()[2] for l in os.popen('ip route') if l.startswith('default')]
for address in gateway or ['169.254.0.1']:
    must_raise(address, lambda: socket.create_connection((address, {{hostPort}}), 2))`,
  ),
  python(
    'reach the metadata address',
    `
must_raise('metadata', lambda: socket.create_connection(('169.254.169.254', 80), 2))`,
  ),
  python(
    'reach a sibling sandbox',
    `
must_raise('sibling', lambda: socket.create_connection(('{{sibling}}', 8000), 2))`,
  ),
  python(
    'reach private networks',
    `
for address in ['10.0.0.1', '172.16.0.1', '192.168.0.1', '100.64.0.1', '192.0.2.1']:
    must_raise(address, lambda: socket.create_connection((address, 80), 0.3))`,
  ),
  python(
    'open raw and packet sockets',
    `
must_raise('raw', lambda: socket.socket(socket.AF_INET, socket.SOCK_RAW, socket.IPPROTO_ICMP))
must_raise('packet', lambda: socket.socket(socket.AF_PACKET, socket.SOCK_RAW, 0))`,
  ),
  python(
    'open vsock, alg, key and bluetooth sockets',
    `
for family in [40, 38, 15, 31, 44, 30, 21]:
    must_raise(family, lambda: socket.socket(family, socket.SOCK_STREAM, 0))`,
  ),
  python(
    'open netlink beyond routes',
    `
for protocol in [9, 12, 15, 16]:
    must_raise(protocol, lambda: socket.socket(socket.AF_NETLINK, socket.SOCK_RAW, protocol))`,
  ),
  python(
    'add a route or an address',
    `
for command in ['ip addr add 10.9.9.9/32 dev eth0', 'ip route add 192.0.2.0/24 dev eth0', 'ip link set eth0 address 02:00:00:00:00:09']:
    print('stopped' if os.system(command + ' 2>/dev/null') else 'ESCAPED ' + command)`,
  ),
  python(
    'send from an address that is not its own',
    `
s = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
must_raise('bind', lambda: s.bind(('10.255.255.1', 0)))`,
  ),
  python(
    'use the new mount interface',
    `
must_fail('fsopen', 430, b'tmpfs', 0)
must_fail('open_tree', 428, -100, b'/', 1)
must_fail('move_mount', 429, -1, b'', -1, b'', 0)
must_fail('mount_setattr', 442, -100, b'/', 0, None, 0)`,
  ),
  python(
    'use clone3 and clone to make namespaces',
    `
args = struct.pack('QQQQQQQQQQQ', 0x10000000, 0, 0, 0, 17, 0, 0, 0, 0, 0, 0)
must_fail('clone3', 435, ctypes.c_char_p(args), ctypes.c_size_t(88))
must_fail('clone', 56, ctypes.c_ulong(0x10000000 | 17), 0, 0, 0, 0)`,
  ),
  python(
    'use bpf, perf, userfaultfd, keyrings and io_uring',
    `
must_fail('bpf', 321, 0, None, 0)
must_fail('perf_event_open', 298, None, 0, -1, -1, 0)
must_fail('userfaultfd', 323, 0)
must_fail('add_key', 248, b'user', b'x', b'y', 1, -3)
must_fail('keyctl', 250, 0, -3, 1)
must_fail('io_uring_setup', 425, 8, ctypes.create_string_buffer(200))`,
  ),
  python(
    'open files by handle',
    `
must_fail('open_by_handle_at', 304, -100, ctypes.create_string_buffer(200), 0)`,
  ),
  python(
    'load a kernel module or a new kernel',
    `
must_fail('init_module', 175, None, 0, b'')
must_fail('finit_module', 313, -1, b'', 0)
must_fail('kexec_load', 246, 0, 0, None, 0)`,
  ),
  python(
    'reboot or change the clock',
    `
must_fail('reboot', 169, 0xfee1dead, 672274793, 0x01234567, None)
must_fail('settimeofday', 164, ctypes.create_string_buffer(16), None)`,
  ),
  python(
    'trace PID 1',
    `
must_fail('ptrace', 101, 16, 1, 0, 0)
must_fail('process_vm_readv', 310, 1, None, 0, None, 0, 0) if False else None
must_fail('pidfd_getfd', 438, ctypes.c_int(libc.syscall(434, 1, 0)), 3, 0)`,
  ),
  python(
    'break out by chroot and an open folder',
    `
os.makedirs('/tmp/jail', exist_ok=True)
outside = os.open('/', os.O_RDONLY)
os.chroot('/tmp/jail')
os.fchdir(outside)
for _ in range(64): os.chdir('..')
os.chroot('.')
print('ESCAPED' if os.path.exists('{{marker}}') else 'stopped')`,
  ),
  python(
    'find the processes of the host',
    `
pids = [p for p in os.listdir('/proc') if p.isdigit()]
names = [open(f'/proc/{p}/cmdline').read() for p in pids if os.path.exists(f'/proc/{p}/cmdline')]
print('ESCAPED' if any('src/' + 'main.ts' in n for n in names) else 'stopped')`,
  ),
];
