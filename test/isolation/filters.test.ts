/** Programs for the kernel to run, which it would count for nobody: a sandbox loads none, and has all else of their calls. */
import { afterAll, beforeAll, expect, it } from 'vitest';
import { must, type Service, startService } from '../support/service.ts';

let service: Service;

beforeAll(async () => {
  service = await startService();
  await must(service, 'CreateSandbox', { name: 'box', cpu: 1, memory_gb: 1, disk_gb: 1 });
}, 120_000);

afterAll(() => service?.stop());

/** What calls say, with the bits set too that the kernel does not look at. */
async function answers(calls: Record<string, string>): Promise<Record<string, string>> {
  const program = `
import ctypes, errno, json, socket
libc = ctypes.CDLL(None, use_errno=True)
libc.syscall.argtypes = [ctypes.c_long] * 6
HIGH = 1 << 32
PRCTL, SECCOMP, SETSOCKOPT = 157, 317, 54
instructions = (ctypes.c_uint64 * 1)(0x7fff000000000006)
program = (ctypes.c_uint64 * 2)(1, ctypes.addressof(instructions))
at = ctypes.addressof(program)
one, second = ctypes.c_int(1), (ctypes.c_long * 2)(1, 0)
word, time = ctypes.addressof(one), ctypes.addressof(second)
tcp = socket.socket()
tcp6 = socket.socket(socket.AF_INET6)
calls = {${Object.entries(calls)
    .map(([name, args]) => `'${name}': (${args}, 0, 0, 0, 0)`)
    .join(', ')}}
said = {}
for name, args in calls.items():
    ctypes.set_errno(0)
    said[name] = 'done' if libc.syscall(*args[:6]) >= 0 else errno.errorcode[ctypes.get_errno()]
print(json.dumps(said))`;
  const command = `python3 - <<'PROGRAM'\n${program}\nPROGRAM`;
  const { output } = await must(service, 'RunCommand', { sandbox: 'box', command, timeout_seconds: 30 });
  return JSON.parse(String(output));
}

it('a filter of system calls is refused as by a kernel without them', async () => {
  expect(
    await answers({
      seccomp: 'SECCOMP, 1, 0, at',
      prctl: 'PRCTL, 22, 2, at',
      'prctl with higher bits': 'PRCTL, HIGH + 22, 2, at',
      'strict mode': 'PRCTL, 22, 1',
    }),
  ).toEqual({
    seccomp: 'ENOSYS',
    prctl: 'EINVAL',
    'prctl with higher bits': 'EINVAL',
    'strict mode': 'EINVAL',
  });
});

it('a filter of a socket is refused as by a kernel without them', async () => {
  expect(
    await answers({
      attach: 'SETSOCKOPT, tcp.fileno(), 1, 26, at, 16',
      'attach with higher bits': 'SETSOCKOPT, tcp.fileno(), HIGH + 1, HIGH + 26, at, 16',
      'of a group of sockets': 'SETSOCKOPT, tcp.fileno(), 1, 51, at, 16',
    }),
  ).toEqual({
    attach: 'ENOPROTOOPT',
    'attach with higher bits': 'ENOPROTOOPT',
    'of a group of sockets': 'ENOPROTOOPT',
  });
});

it('other options of processes and sockets are there', async () => {
  expect(
    await answers({
      SO_REUSEADDR: 'SETSOCKOPT, tcp.fileno(), 1, 2, word, 4',
      SO_RCVTIMEO: 'SETSOCKOPT, tcp.fileno(), 1, 20, time, 16',
      SO_LOCK_FILTER: 'SETSOCKOPT, tcp.fileno(), 1, 44, word, 4',
      SO_ZEROCOPY: 'SETSOCKOPT, tcp.fileno(), 1, 60, word, 4',
      TCP_NODELAY: 'SETSOCKOPT, tcp.fileno(), 6, 1, word, 4',
      IPV6_V6ONLY: 'SETSOCKOPT, tcp6.fileno(), 41, 26, word, 4',
      IPV6_RECVHOPLIMIT: 'SETSOCKOPT, tcp6.fileno(), 41, 51, word, 4',
      PR_SET_DUMPABLE: 'PRCTL, 4, 1',
      PR_GET_SECCOMP: 'PRCTL, 21',
      PR_CAPBSET_READ: 'PRCTL, 23, 0',
      PR_SET_NO_NEW_PRIVS: 'PRCTL, 38, 1',
      PR_SET_PTRACER: 'PRCTL, 0x59616d61, 0',
    }),
  ).toMatchObject({
    SO_REUSEADDR: 'done',
    SO_RCVTIMEO: 'done',
    SO_LOCK_FILTER: 'done',
    SO_ZEROCOPY: 'done',
    TCP_NODELAY: 'done',
    IPV6_V6ONLY: 'done',
    IPV6_RECVHOPLIMIT: 'done',
    PR_SET_DUMPABLE: 'done',
    PR_GET_SECCOMP: 'done',
    PR_CAPBSET_READ: 'done',
    PR_SET_NO_NEW_PRIVS: 'done',
    PR_SET_PTRACER: expect.stringMatching(/^(done|EINVAL)$/),
  });
});
