"""Prints, as JSON, what a process sees of its machine, without what differs from one machine to the next."""
import ctypes, json, os, platform, re, resource, signal, socket, stat, sys

BASE = int(open('/proc/self/uid_map').read().split()[1])
ID = open('/etc/hostname').read().strip()
STATUS = '''Umask Uid Gid Groups NoNewPrivs Seccomp Seccomp_filters SigIgn Speculation_Store_Bypass
    SpeculationIndirectBranch Cpus_allowed_list Mems_allowed_list CapInh CapPrm CapEff CapBnd CapAmb'''.split()
# Counts of use; names of whatever else runs on the host; numbers that are new at each read.
CHANGING = re.compile(r'random/|-nr$|-state$|ns_last_pid|pty/nr|seq$|dentry|epoll|netdev_rss|bogomips|loadavg|nf_conntrack_count|'
                      r'tcp_ehash|sched_domain|drop_caches|stat_refresh|quota/')
# Of version 1, then of version 2.
# The processor's weight is none of them: while the host is busy it follows what each owner uses.
LIMITS = re.compile(r'limit_in_bytes|cfs_|\.cpus$|\.mems$|pids\.max|swappiness|clone_children|release|idle$|'
                    r'\.(max|low|min|high|group|type|controllers|subtree_control|freeze|partition|uclamp)($|\.)|io\.weight$')
MASKED = '''/proc/acpi /proc/fs /proc/keys /proc/timer_list /proc/cmdline /proc/diskstats /proc/locks /proc/partitions /proc/swaps
    /proc/buddyinfo /proc/interrupts /proc/key-users /proc/pressure /proc/softirqs /proc/zoneinfo /proc/sys/fs/file-nr
    /proc/sys/kernel/pty/nr /proc/kcore /proc/sched_debug /proc/modules /sys/block /sys/class/block /sys/dev/block
    /sys/devices/virtual/block /sys/devices/virtual/powercap /sys/firmware /sys/class/bdi /sys/devices/virtual/bdi
    /sys/class/thermal /sys/devices/virtual/workqueue /sys/kernel/irq'''.split()
# fork, vfork and clone go on in two processes; the others have an answer that depends on the moment.
SKIPPED = {56, 57, 58, 435} if platform.machine() == 'x86_64' else {220, 435}
libc = ctypes.CDLL(None, use_errno=True)


def plain(text):
    """Ids of this slot become those that the machine knows."""
    shifted = lambda match: f'BASE+{int(match[0]) - BASE}' if BASE <= int(match[0]) < BASE + 65536 else match[0]
    return re.sub(r'\b\d{6,10}\b', shifted, text.replace(ID, 'ID'))


def numbers(text):
    """Numbers here are no ids, though some look like one."""
    return text.replace(ID, 'ID')


def read(path, told=plain):
    try:
        with open(path, 'rb') as file:
            return told(file.read(1 << 16).decode('latin1'))
    except OSError as error:
        return f'errno {error.errno}'


def status(process):
    lines = dict(line.split(':', 1) for line in read(f'/proc/{process}/status').splitlines())
    return {name: lines.get(name, '').strip() for name in STATUS}


def mounts():
    lines = [line.split(' ') for line in read('/proc/self/mountinfo').splitlines()]
    return sorted(' '.join(line[3:]) for line in lines)


def entry(path):
    found = os.lstat(path)
    link = os.readlink(path) if stat.S_ISLNK(found.st_mode) else None
    return [oct(found.st_mode), found.st_uid, found.st_gid, found.st_rdev, link]


def below(top):
    """Without following links, and without what is mounted on the host alone."""
    found = []
    for folder, folders, files in os.walk(top):
        found += [os.path.join(folder, name) for name in folders + files]
    return sorted(found)


def attempt(call, *arguments):
    try:
        call(*arguments)
        return 'done'
    except OSError as error:
        return f'errno {error.errno}'


def written(path):
    """Opens only: what could be written stays as it is."""
    return attempt(lambda: os.close(os.open(path, os.O_WRONLY)))


def answer(number):
    """Of a system call whose arguments are all wrong, in a process of its own."""
    reader, writer = os.pipe()
    child = os.fork()
    if child == 0:
        signal.alarm(2)
        result = libc.syscall(ctypes.c_long(number), *[ctypes.c_long(-1)] * 6)
        os.write(writer, b'done' if result >= 0 else b'errno %d' % ctypes.get_errno())
        os._exit(0)
    os.close(writer)
    said = os.read(reader, 64).decode()
    os.close(reader)
    _, end = os.waitpid(child, 0)
    return said or f'ends with {end & 127}'


def view():
    sysctls = [path for path in below('/proc/sys') if os.path.isfile(path) and not CHANGING.search(path)]
    groups = below('/sys/fs/cgroup')
    return {
        'status of a command': status('self'),
        'status of the agent': status(1),
        'maps': [read(f'/proc/self/{name}').split() for name in ('uid_map', 'gid_map', 'setgroups', 'cgroup')],
        'mounts': mounts(),
        'limits': read('/proc/1/limits', numbers),
        'devices': {path: entry(path) for path in ['/dev', *below('/dev')]},
        'sysctls': {path: [entry(path)[0], read(path, numbers)] for path in sysctls},
        'cgroup files': {path: entry(path)[:3] for path in groups},
        'cgroup values': {path: read(path, numbers) for path in groups if LIMITS.search(path)},
        'out of memory': [read('/proc/1/oom_score_adj'), read('/proc/self/oom_score_adj')],
        'session': read('/proc/1/stat').split(') ')[1].split(' ')[1:4],
        'command line': read('/proc/1/cmdline'),
        'names': [plain(socket.gethostname()), platform.node() == ID, read('/proc/sys/kernel/domainname')],
        'places': {path: entry(path)[:3] for path in ['/', '/proc', '/sys', '/sys/fs', '/.sandhaven', '/.sandhaven/agent',
                                                       '/etc/hosts', '/etc/hostname', '/etc/resolv.conf']},
        'masked': {path: [entry(path)[0][:-3] if os.path.lexists(path) else None, attempt(os.listdir, path), read(path),
                          written(path)] for path in MASKED},
        'read-only': {path: written(path) for path in ['/proc/sys/kernel/hostname', '/proc/sys/net/ipv4/ip_forward',
                                                       '/proc/sysrq-trigger', '/proc/irq/default_smp_affinity',
                                                       '/sys/kernel/mm/transparent_hugepage/enabled',
                                                       '/sys/fs/cgroup/memory/memory.limit_in_bytes',
                                                       '/sys/fs/cgroup/memory.max', '/.sandhaven/agent']},
        'node': attempt(os.mknod, '/tmp/node', stat.S_IFCHR | 0o666, os.makedev(1, 3)),
        'calls': {number: answer(number) for number in range(480) if number not in SKIPPED},
        'other calls': [answer(0x40000000 | 39), answer(1000)],
        'no call': answer(0xffffffff),
    }


json.dump(view(), sys.stdout)
