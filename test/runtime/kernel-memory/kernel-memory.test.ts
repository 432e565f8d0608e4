import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { arch, tmpdir } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { describe, expect, it } from 'vitest';
import { processesForMachines } from '../../../src/runtime/oci/host/room.ts';
import { openFilesOf } from '../../../src/runtime/oci/kernel-memory/holdings.ts';
import { eachLine } from '../../../src/runtime/oci/kernel-memory/listing.ts';
import { locksOf, parseLockTotal } from '../../../src/runtime/oci/kernel-memory/locks.ts';
import { bytesOfConnection, parseSocketCounts } from '../../../src/runtime/oci/kernel-memory/sockets.ts';

/** Processes made with it have one table of descriptors together. */
const CLONE_FILES = 0x400;

const fields = (line: string): string[] => line.trim().split(/\s+/);

describe('the kernel’s counts of sockets', () => {
  it('are their number in the machine, and the memory of TCP in the whole host', () => {
    const text =
      'sockets: used 52\nTCP: inuse 16 orphan 0 tw 25 alloc 17 mem 300\nUDP: inuse 3 mem 0\nUDPLITE: inuse 0\n';
    expect(parseSocketCounts(text)).toEqual({ used: 52, tcpBytes: 300 * 4096 });
    expect(parseSocketCounts('')).toEqual({ used: 0, tcpBytes: 0 });
  });

  it.each([
    [
      'a heading',
      'sl  local_address rem_address   st tx_queue rx_queue tr tm->when retrnsmt   uid  timeout inode',
      0,
    ],
    [
      'one of a process',
      '1: 0100007F:B221 0100007F:B222 01 00000000:00100000 00:00000000 00000000 0 0 1892007 1',
      0,
    ],
    [
      'one that is over',
      '1: 0100007F:B221 0100007F:B222 06 00000000:00000000 03:00000000 00000000 0 0 0 3',
      0,
    ],
    [
      'nobody’s, without data',
      '1: 0100007F:B221 0100007F:B222 01 00000000:00000000 00:00000000 00000000 0 0 0 1',
      4_096,
    ],
    [
      'nobody’s, with a byte',
      '1: 0100007F:B221 0100007F:B222 08 00000000:00000001 00:00000000 00000000 0 0 0 1',
      135_168,
    ],
    [
      'nobody’s, with a MiB',
      '1: 0100007F:B221 0100007F:B222 08 00000000:00100000 00:00000000 00000000 0 0 0 1',
      1_052_672,
    ],
  ])('include connections that no process has: %s', (_, line, bytes) => {
    expect(bytesOfConnection(fields(line))).toBe(bytes);
  });
});

it('locks are those of the descriptors, whoever made them, and each once', async () => {
  const program = `
import ctypes, fcntl, os, signal, sys, tempfile
file = tempfile.TemporaryFile()
for i in range(30):
    fcntl.lockf(file, fcntl.LOCK_EX, 1, 2 * i)
memory = os.memfd_create("memory")
if ctypes.CDLL(None).syscall(${arch() === 'x64' ? 56 : 220}, ${CLONE_FILES} | signal.SIGCHLD, 0, 0, 0, 0) == 0:
    for i in range(7):
        fcntl.lockf(memory, fcntl.LOCK_EX, 1, 2 * i)
    os._exit(0)
os.wait()
held = [os.open("/dev/null", os.O_RDONLY) for _ in range(5)]
for end in held:
    fcntl.flock(end, fcntl.LOCK_SH)
child = os.fork()
if child:
    print(os.getpid(), child, flush=True)
sys.stdin.read()`;
  const python = spawn('python3', ['-c', program], { stdio: ['pipe', 'pipe', 'inherit'] });
  const [line] = await once(createInterface(python.stdout), 'line');
  const processes = String(line).trim().split(' ').map(Number);
  expect(await locksOf(processes)).toBe(42);
  expect(await locksOf(processes.slice(1))).toBe(5);
  python.stdin.end();
  await once(python, 'close');
  expect(await locksOf(processes)).toBe(0);
});

it('locks of an open file are those of each process that has it, however its rows look, and also when its maker is gone', async () => {
  const program = `
import fcntl, os, socket, struct, sys, tempfile
F_OFD_SETLK = 37
def lock(file, kind, count):
    for i in range(count):
        fcntl.fcntl(file, F_OFD_SETLK, struct.pack("hhqqi4x", kind, os.SEEK_SET, 2 * i, 1, 0))
name = tempfile.mkstemp()[1]
ours, theirs = socket.socketpair()
if os.fork() == 0:
    with tempfile.TemporaryFile() as sent:
        lock(sent, fcntl.F_WRLCK, 30)
        socket.send_fds(theirs, [b"x"], [sent.fileno()])
    os._exit(0)
received = socket.recv_fds(ours, 1, 1)[1]
os.wait()
ready, done = os.pipe()
children = []
for _ in range(3):
    child = os.fork()
    if child == 0:
        os.close(received[0])
        lock(os.open(name, os.O_RDWR), fcntl.F_RDLCK, 7)
        os.write(done, b"x")
        sys.stdin.read()
        os._exit(0)
    children.append(child)
for _ in children:
    os.read(ready, 1)
os.unlink(name)
print(os.getpid(), *children, flush=True)
sys.stdin.read()`;
  const python = spawn('python3', ['-c', program], { stdio: ['pipe', 'pipe', 'inherit'] });
  const [line] = await once(createInterface(python.stdout), 'line');
  const [parent = 0, ...children] = String(line).trim().split(' ').map(Number);
  expect(await locksOf([parent])).toBe(30);
  expect(await locksOf(children)).toBe(21);
  expect(await locksOf([parent, ...children])).toBe(51);
  python.stdin.end();
  await once(python, 'close');
});

it('locks and open files are counted where the first thread of their process is gone', async () => {
  const program = `
import ctypes, fcntl, os, struct, sys, tempfile, threading
file = tempfile.TemporaryFile()
for i in range(30):
    fcntl.fcntl(file, 37, struct.pack("hhqqi4x", fcntl.F_WRLCK, 0, 2 * i, 1, 0))
def stay():
    while open(f"/proc/{os.getpid()}/stat").read().split(") ")[1][0] != "Z":
        pass
    print(os.getpid(), len(os.listdir("/proc/thread-self/fd")) - 1, flush=True)
    sys.stdin.read()
    os._exit(0)
threading.Thread(target=stay).start()
ctypes.CDLL(None).syscall(${arch() === 'x64' ? 60 : 93}, 0)`;
  const python = spawn('python3', ['-c', program], { stdio: ['pipe', 'pipe', 'inherit'] });
  const [line] = await once(createInterface(python.stdout), 'line');
  const [pid = 0, files = 0] = String(line).trim().split(' ').map(Number);
  expect(await locksOf([pid])).toBe(30);
  expect(await openFilesOf([pid])).toBe(files);
  python.stdin.end();
  await once(python, 'close');
});

it('a listing returns whether it was read to its end', async () => {
  const folder = mkdtempSync(join(tmpdir(), 'sandhaven-listing-'));
  const file = join(folder, 'table');
  writeFileSync(file, 'a  1\n b 2\n');
  const lines: string[][] = [];
  expect(await eachLine(file, 1_024, (line) => lines.push(line))).toBe(true);
  expect(lines).toEqual([
    ['a', '1'],
    ['b', '2'],
  ]);
  expect(await eachLine(file, 4, () => {})).toBe(false);
  expect(
    await eachLine(
      file,
      1_024,
      () => {},
      () => true,
    ),
  ).toBe(false);
  expect(await eachLine(join(folder, 'none'), 4, () => {})).toBe(true);
  rmSync(folder, { recursive: true });
});

it('the number of all locks is the allocator’s, where it shows one', () => {
  const slabinfo =
    'slabinfo - version: 2.1\nfile_lease_cache      3      0    168\nfile_lock_cache      166    315    192   21    1\n';
  expect(parseLockTotal(slabinfo)).toBe(169);
  expect(parseLockTotal('slabinfo - version: 2.1\n')).toBeNull();
});

it('machines have three quarters of the processes that the host can have, whatever bounds those', () => {
  expect(processesForMachines(32_768, 192_730)).toBe(24_576);
  expect(processesForMachines(4_194_304, 192_730)).toBe(144_547);
});
