/** docs/internals/system-calls.md says what each refused call answers: inside a sandbox it does. */
import { readFileSync } from 'node:fs';
import { arch } from 'node:os';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { must, type Service, startService } from '../support/service.ts';

/** By number, on x86_64; a call that is made with arguments has them behind it. */
const calls: Record<string, readonly number[]> = {
  ...{ clone3: [435], io_setup: [206], io_destroy: [207], io_getevents: [208], io_submit: [209] },
  ...{ io_cancel: [210], io_pgetevents: [333], io_uring_setup: [425], io_uring_enter: [426] },
  ...{ io_uring_register: [427], add_key: [248], request_key: [249], keyctl: [250], mbind: [237] },
  ...{ set_mempolicy: [238], get_mempolicy: [239], migrate_pages: [256], move_pages: [279] },
  ...{ set_mempolicy_home_node: [450], kcmp: [312], memfd_secret: [447], process_madvise: [440] },
  ...{ lsm_get_self_attr: [459], lsm_set_self_attr: [460], lsm_list_modules: [461], seccomp: [317] },
  ...{ mincore: [27], cachestat: [451], modify_ldt: [154], lookup_dcookie: [212], nfsservctl: [180] },
  ...{ sysfs: [139], ustat: [136], uselib: [134], _sysctl: [156], set_thread_area: [205] },
  ...{ get_thread_area: [211], mount: [165], umount2: [166], pivot_root: [155], fsopen: [430] },
  ...{ fsconfig: [431], fsmount: [432], fspick: [433], move_mount: [429], open_tree: [428] },
  ...{ mount_setattr: [442], unshare: [272], setns: [308], bpf: [321], perf_event_open: [298] },
  ...{ userfaultfd: [323], name_to_handle_at: [303], open_by_handle_at: [304], fanotify_init: [300] },
  ...{ fanotify_mark: [301], init_module: [175], finit_module: [313], delete_module: [176] },
  ...{ kexec_load: [246], kexec_file_load: [320], reboot: [169], swapon: [167], swapoff: [168] },
  ...{ settimeofday: [164], clock_settime: [227], sethostname: [170], setdomainname: [171], acct: [163] },
  ...{ quotactl: [179], quotactl_fd: [443], syslog: [103], vhangup: [153], iopl: [172], ioperm: [173] },
  'prctl(PR_SET_SECCOMP)': [157, 22, 2, 0],
  'setsockopt(SO_ATTACH_FILTER)': [54, 0, 1, 26],
  'preadv2(RWF_NOWAIT)': [327, 0, 0, 0, 0, 0, 8],
  'close_range(CLOSE_RANGE_UNSHARE)': [436, 100, 100, 2],
  'socket(AF_NETLINK, NETLINK_AUDIT)': [41, 16, 3, 9],
  'socket(AF_NETLINK, NETLINK_KOBJECT_UEVENT)': [41, 16, 3, 15],
  'socket(AF_NETLINK, NETLINK_NETFILTER)': [41, 16, 3, 12],
  'socket(AF_NETLINK, NETLINK_GENERIC)': [41, 16, 3, 16],
  'socket(AF_INET, IPPROTO_MPTCP)': [41, 2, 1, 262],
  'socket(AF_INET, IPPROTO_SCTP)': [41, 2, 1, 132],
  'socket(AF_VSOCK)': [41, 40, 1, 0],
  'socket(AF_ALG)': [41, 38, 5, 0],
  'socket(AF_BLUETOOTH)': [41, 31, 3, 0],
  'socket(AF_XDP)': [41, 44, 3, 0],
  'socket(AF_PACKET)': [41, 17, 3, 0],
  'socket(AF_INET, IPPROTO_RAW)': [41, 2, 3, 255],
  'clone(CLONE_NEWUSER)': [56, 0x10000011],
  'clone(CLONE_THREAD)': [56, 0x10900],
  'personality(UNAME26 and more)': [135, 0x440000],
};

const page = readFileSync(new URL('../../docs/internals/system-calls.md', import.meta.url), 'utf8');
const documented = Object.fromEntries(
  [...page.matchAll(/^\| (`.+`) \| (E[A-Z]+) \|/gm)].flatMap(([, names = '', error]) =>
    [...names.matchAll(/`([^`]+)`/g)].map(([, name = '']) => [name, error] as const),
  ),
);

describe.runIf(arch() === 'x64')('inside a sandbox', () => {
  let service: Service;

  beforeAll(async () => {
    service = await startService();
    await must(service, 'CreateSandbox', { name: 'box', cpu: 1, memory_gb: 1, disk_gb: 1 });
  }, 120_000);

  afterAll(() => service?.stop());

  async function python(program: string): Promise<unknown> {
    const command = `python3 - <<'PROGRAM'\n${program}\nPROGRAM`;
    return (await must(service, 'RunCommand', { sandbox: 'box', command, timeout_seconds: 30 }))['output'];
  }

  it('each refused call answers as the page says', async () => {
    const answers = JSON.parse(
      String(
        await python(`
import ctypes, errno, json
libc = ctypes.CDLL(None, use_errno=True)
libc.syscall.argtypes = [ctypes.c_long] * 7
said = {}
for name, (number, *given) in json.loads('${JSON.stringify(calls)}').items():
    ctypes.set_errno(0)
    done = libc.syscall(number, *(given + [-1] * (6 - len(given)))) >= 0
    said[name] = 'done' if done else errno.errorcode[ctypes.get_errno()].replace('ENOTSUP', 'EOPNOTSUPP')
print(json.dumps(said))`),
      ),
    );
    expect(answers).toEqual(documented);
    expect(answers).toMatchObject({ keyctl: 'ENOSYS', get_mempolicy: 'ENOSYS', mount: 'EPERM' });
  });

  it('locks of open files and memory without random addresses are there', async () => {
    const program = `
import ctypes, fcntl, struct
fcntl.fcntl(open('/tmp/lock', 'w'), 37, struct.pack('hhqqi4x', 1, 0, 0, 0, 0))
print(ctypes.CDLL(None).personality(0x40000) >= 0)`;
    expect(await python(program)).toBe('True\n');
  });

  it('any user sends echo requests', async () => {
    const program = `
import os, socket
for uid in (0, 12345):
    os.setresgid(uid, uid, uid)
    os.setresuid(uid, uid, uid)
    echo = socket.socket(socket.AF_INET, socket.SOCK_DGRAM, socket.IPPROTO_ICMP)
    echo.sendto(bytes([8, 0, 0, 0, 0, 0, 0, 1]), ('127.0.0.1', 0))
    print(uid, echo.recv(100)[0])`;
    expect(await python(program)).toBe('0 0\n12345 0\n');
  });

  it('sockets of other machines and of the host are not listed', async () => {
    const { output } = await must(service, 'RunCommand', { sandbox: 'box', command: 'cat /proc/net/unix' });
    expect(readFileSync('/proc/net/unix', 'utf8')).toMatch(/\/\S+$/m);
    expect(output).not.toMatch(/[@/]\S+$/m);
  });
});
