/** Programs for a sandbox that show what its kernel refuses, whatever runs it: a machine of one host, or a Pod. */

import { availableParallelism } from 'node:os';

export interface Probe {
  command: string;
  /** The lines that it prints. */
  says: string[];
}

/** Of the agent: one for its connections, and four or six for what may block. */
const agentThreads = availableParallelism() > 2 ? 7 : 5;

const python = (program: string): string => `python3 - <<'PROGRAM'\n${program}\nPROGRAM`;

/** Root in a sandbox changes its agent: a call for each id, with the upper half set too, which the kernel ignores. */
export const agentLimits: Probe = {
  command: python(`
import ctypes, os
libc = ctypes.CDLL(None, use_errno=True)
none = (ctypes.c_ulong * 2)(0, 0)
word = ctypes.c_int(0)
mask = ctypes.c_ulong(1)
attributes = (ctypes.c_uint * 14)(56, 5)
calls = {
    'prlimit64 NOFILE': lambda id: (302, id, 7, none, 0),
    'prlimit64 FSIZE': lambda id: (302, id, 1, none, 0),
    'prlimit64 AS': lambda id: (302, id, 9, none, 0),
    'setpriority': lambda id: (141, 0, id, 19),
    'setpriority of the group': lambda id: (141, 1, id, 19),
    'setpriority of the user': lambda id: (141, 2, 0, 19),
    'sched_setaffinity': lambda id: (203, id, 8, ctypes.byref(mask)),
    'sched_setparam': lambda id: (142, id, ctypes.byref(word)),
    'sched_setscheduler': lambda id: (144, id, 5, ctypes.byref(word)),
    'sched_setattr': lambda id: (314, id, attributes, 0),
    'ioprio_set': lambda id: (251, 1, id, 3 << 13),
    'ioprio_set of the user': lambda id: (251, 3, 0, 3 << 13),
}
threads = [int(name) for name in os.listdir('/proc/1/task')]
print('threads', len(threads), 'below 64' if max(threads) < 64 else threads)
for name, call in calls.items():
    for id in threads:
        for spelled in (id, id | 1 << 32):
            number, *arguments = call(ctypes.c_ulong(spelled))
            if libc.syscall(ctypes.c_long(number), *arguments) != -1:
                print('CHANGED', name, hex(spelled))
for number in (302,):
    print('read', libc.syscall(number, 1, 7, 0, none), none[0] > 1000)
print('other', os.getpid() >= 64)
`),
  says: [`threads ${agentThreads} below 64`, 'read 0 True', 'other True'],
};

/** Files that others have read, by what of them is in memory. */
export const pageCache: Probe = {
  command: python(`
import ctypes, errno, os
libc = ctypes.CDLL(None, use_errno=True)
for number in (27, 451):
    result = libc.syscall(number, 0, 4096, 0, 0)
    print(result, errno.errorcode[ctypes.get_errno()])
fd = os.open('/bin/bash', os.O_RDONLY)
print(os.preadv(fd, [bytearray(4)], 0))
try:
    print(os.preadv(fd, [bytearray(4)], 0, os.RWF_NOWAIT))
except OSError as error:
    print(errno.errorcode[error.errno])`),
  says: ['-1 ENOSYS', '-1 ENOSYS', '4', 'ENOTSUP'],
};

const COUNTS =
  'cmdline diskstats partitions locks swaps interrupts softirqs zoneinfo buddyinfo key-users sys/fs/file-nr';

/** Files and folders that count the work of the whole host: each is empty. */
export const hiddenCounts: Probe = {
  command: `
    for name in ${COUNTS}; do echo $name $(cat /proc/$name | wc -c); done
    ls -A /sys/block /sys/class/block /sys/dev/block /proc/pressure 2>/dev/null | grep -v :$ | grep . || echo no disks`,
  says: [...COUNTS.split(' ').map((name) => `${name} 0`), 'no disks'],
};
