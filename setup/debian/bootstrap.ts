/** mmdebstrap, which makes a Debian root of packages; with emulation where their programs are of another processor. */
import { emulation } from '../processors/emulator.ts';
import { isForeign, type Processor } from '../processors/processor.ts';

/** Lines of mmdebstrap about its own settings, and about /sys, which it mounts in another way after that. */
export const isAboutItself =
  /automatically chosen|chroot architecture|finding correct|running --customize-hook|check\/qemu|\/sys: permission denied|dmesg\(1\)/;

/** @returns the command and its first arguments. A mount namespace of its own keeps mounts of a killed build off the machine. */
export async function bootstrapOf(processor: Processor): Promise<[string, ...string[]]> {
  if (!isForeign(processor)) return ['unshare', '--mount', '--propagation', 'private', 'mmdebstrap'];
  const [emulated, ...argv] = await emulation(processor);
  // Its own look at the emulation knows Debian's alone.
  const how = ['--mode=root', `--architectures=${processor.debian}`, '--skip=check/qemu'];
  return [emulated, ...argv, 'mmdebstrap', ...how];
}
