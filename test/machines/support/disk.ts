/**
 * A disk of a machine: overlays of qcow2 above a base that stays as it is, a new one for each boot.
 *
 * A killed QEMU loses of it what the guest had not flushed, as a disk with a volatile cache does. With
 * `cache=writeback` QEMU hands data to the kernel of this host, which lives; but it keeps in its own memory where in the
 * overlay new data lies, and writes that out at a flush of the guest alone. All of an overlay is new after a boot, so
 * each cluster that was never flushed is gone with QEMU, and the one below it shows. `cache=none` would lose no more, and
 * be slower by the host's disk; `cache=unsafe` would never flush; with a raw image nothing would be lost at all.
 */
import { execFile } from 'node:child_process';
import { join } from 'node:path';
import { promisify } from 'node:util';

const run = promisify(execFile);

export interface Disk {
  /** A `-drive` of QEMU for the newest overlay. */
  drive(): string;
  /** Puts a new overlay on top; the disk must not be in use. */
  grow(): Promise<void>;
}

/** More than the table of a whole disk takes, so that QEMU never writes a part of it early. */
const TABLE_CACHE = '64M';

/** @param base Its format is raw. The overlays lie in `folder`, which the caller removes. */
export async function createDisk(name: string, base: string, folder: string): Promise<Disk> {
  let layers = 0;
  const pathOf = (layer: number) => join(folder, `${name}-${layer}.qcow2`);
  const grow = async () => {
    const [below, format] = layers === 0 ? [base, 'raw'] : [pathOf(layers), 'qcow2'];
    layers += 1;
    await run('qemu-img', ['create', '-q', '-f', 'qcow2', '-b', below, '-F', format, pathOf(layers)]);
  };
  await grow();
  return {
    drive: () =>
      `file=${pathOf(layers)},if=virtio,format=qcow2,cache=writeback,discard=unmap,l2-cache-size=${TABLE_CACHE}`,
    grow,
  };
}
