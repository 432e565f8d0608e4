/**
 * Describes the emulated Debian machines that tests install the service on: packages, settings, and where the built
 * disk lies in the cache. A digest of all that names the folder, so a change of the recipe makes a new disk.
 */
import { createHash } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { cacheFolder } from '../../processors/cache.ts';
import { hostProcessor, type Processor } from '../../processors/processor.ts';

export const suites = ['trixie', 'bookworm'] as const;
export type Suite = (typeof suites)[number];

/** Raise it to fetch newer packages. */
const REVISION = 1;

/**
 * What a minimal server has, and after it what the service's package depends on: apt inside an emulated machine
 * takes minutes for packages that mmdebstrap unpacks in seconds.
 */
export const packagesFor = ({ debian }: Processor): string[] => [
  ...[`linux-image-cloud-${debian}`, 'systemd', 'systemd-sysv', 'dbus', 'udev', 'kmod', 'openssh-server'],
  ...['iproute2', 'nftables', 'ca-certificates', 'curl', 'python3', 'procps', 'apt', 'openssh-client'],
  ...['e2fsprogs', 'libjemalloc2', 'skopeo', 'zstd', 'runc', 'git', 'rsync'],
];

/** Room for all that the warm pool promises. Bytes of a disk come as they are written. */
export const DISK_BYTES = 128 * 1024 ** 3;

export const customize = join(import.meta.dirname, 'customize.sh');

export interface MachineImage {
  processor: Processor;
  folder: string;
  /** A raw ext4 file system without partitions, since QEMU itself loads the kernel. */
  disk: string;
  kernel: string;
  initrd: string;
  /** The private key that root inside lets in. */
  key: string;
}

export function machinesStore(processor: Processor): string {
  return cacheFolder('machines', processor);
}

export function imageOf(suite: Suite, processor = hostProcessor): MachineImage {
  const { name } = processor;
  const packages = packagesFor(processor);
  const hash = createHash('sha256').update(
    JSON.stringify([REVISION, name, suite, packages, DISK_BYTES, readFileSync(customize, 'utf8')]),
  );
  const folder = join(machinesStore(processor), `${suite}-${hash.digest('hex').slice(0, 16)}`);
  return {
    processor,
    folder,
    disk: join(folder, 'disk.img'),
    kernel: join(folder, 'vmlinuz'),
    initrd: join(folder, 'initrd.img'),
    key: join(folder, 'key'),
  };
}
