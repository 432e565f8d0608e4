/**
 * Processors and memory that a node shows to Kubernetes, more than the machine has: the scheduler sets aside what each
 * sandbox may use at most, and tests make many sandboxes that use little.
 */
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';

export interface Hardware {
  processors: number;
  memoryGiB: number;
}

/**
 * Mounts what `writeHardware` wrote over the kernel's own files, for the programs of one mount namespace: over a /sys that
 * is covered in part, no container could mount its own.
 */
export const HARDWARE_SHOWN = `
if [ -d "$hardware" ]; then
  mount --make-private /sys
  mount --bind "$hardware/node" /sys/devices/system/node
  mount --bind "$hardware/meminfo" /proc/meminfo
fi
`;

/**
 * Writes the files that the kubelet counts processors and memory by. It also gives its cgroups the numbers of these
 * processors, so all have numbers of real ones; zeros before a number make it another name.
 */
export function writeHardware(folder: string, { processors, memoryGiB }: Hardware): void {
  const put = (name: string, text: string) => {
    mkdirSync(dirname(join(folder, name)), { recursive: true });
    writeFileSync(join(folder, name), `${text}\n`);
  };
  const total = `${memoryGiB * 1024 * 1024} kB`;
  put('meminfo', readFileSync('/proc/meminfo', 'utf8').replace(/^(MemTotal:\s+)\d+ kB/m, `$1${total}`));
  put('node/node0/meminfo', `Node 0 MemTotal: ${total}`);
  put('node/node0/distance', '10');
  const real = onlineProcessors();
  for (let number = 0; number < processors; number++) {
    const zeros = '0'.repeat(Math.floor(number / real.length));
    const topology = `node/node0/cpu${zeros}${real[number % real.length]}/topology`;
    put(`${topology}/core_id`, String(number));
    put(`${topology}/physical_package_id`, '0');
  }
}

/** The kernel's list is of numbers and ranges, such as `0-3,6`. */
function onlineProcessors(): number[] {
  const list = readFileSync('/sys/devices/system/cpu/online', 'utf8').trim();
  return list.split(',').flatMap((range) => {
    const [first = 0, last = first] = range.split('-').map(Number);
    return Array.from({ length: last - first + 1 }, (_, at) => first + at);
  });
}
