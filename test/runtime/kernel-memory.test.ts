import { describe, expect, it } from 'vitest';
import { processesForMachines } from '../../src/runtime/oci/host-limits.ts';
import { holderOf, parseLockTotal } from '../../src/runtime/oci/kernel-memory/locks.ts';
import { bytesOfConnection, parseSocketCounts } from '../../src/runtime/oci/kernel-memory/sockets.ts';

const fields = (line: string): string[] => line.trim().split(/\s+/);

describe('what the kernel tells of sockets', () => {
  it('is their number in the machine, and the memory of TCP in the whole host', () => {
    const text =
      'sockets: used 52\nTCP: inuse 16 orphan 0 tw 25 alloc 17 mem 300\nUDP: inuse 3 mem 0\nUDPLITE: inuse 0\n';
    expect(parseSocketCounts(text)).toEqual({ used: 52, tcp: 16, tcpBytes: 300 * 4096 });
    expect(parseSocketCounts('')).toEqual({ used: 0, tcp: 0, tcpBytes: 0 });
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
  ])('counts connections that no process has: %s', (_, line, bytes) => {
    expect(bytesOfConnection(fields(line))).toBe(bytes);
  });
});

it.each([
  ['1: POSIX  ADVISORY  WRITE 3015 fe:00:10166845 0 EOF', 3015],
  ['2: -> FLOCK  ADVISORY  WRITE 2965 fe:00:835700 0 EOF', 2965],
  ['3: OFDLCK ADVISORY  READ  -1 fe:00:835700 0 EOF', null],
  ['4: POSIX  ADVISORY  WRITE 0 fe:00:835700 0 EOF', null],
  ['', null],
])('the lock %j is of process %s', (line, pid) => {
  expect(holderOf(fields(line))).toBe(pid);
});

it('the number of all locks is the allocator’s, where it tells', () => {
  const slabinfo =
    'slabinfo - version: 2.1\nfile_lease_cache      0      0    168\nfile_lock_cache      166    315    192   21    1\n';
  expect(parseLockTotal(slabinfo)).toBe(166);
  expect(parseLockTotal('slabinfo - version: 2.1\n')).toBeNull();
});

it('machines have three quarters of the processes that the host can have, whatever bounds those', () => {
  expect(processesForMachines(32_768, 192_730)).toBe(24_576);
  expect(processesForMachines(4_194_304, 192_730)).toBe(144_547);
});
