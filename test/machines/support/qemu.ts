/** One QEMU: an emulated computer without KVM, whose console goes to a file. */
import { type ChildProcess, spawn } from 'node:child_process';
import { emulatorOf } from '../../../setup/debian/machines/emulator.ts';
import type { MachineImage } from '../../../setup/debian/machines/recipe.ts';
import type { Processor } from '../../../setup/processors/processor.ts';

export interface Computer {
  image: Pick<MachineImage, 'processor' | 'kernel' | 'initrd'>;
  /** `-drive` options, in the order of /dev/vda, /dev/vdb. */
  drives: string[];
  /** Ports of this host's loopback, with the port inside that each leads to. */
  forwards: { host: number; guest: number }[];
  consoleLog: string;
}

export interface Qemu {
  /** Null while it runs; otherwise how it ended. */
  ended(): string | null;
  /** SIGKILL, and waits: the power is gone. */
  kill(): Promise<void>;
}

const MEMORY_MIB = 3072;
/** Translated code is kept: what is translated anew costs more than all else. */
const TRANSLATED_MIB = 512;

/** Without what QEMU emulates most slowly: page tables of five levels, signatures of pointers. */
const BOARDS: Record<Processor['kernel'], { options: string[]; console: string }> = {
  x86_64: { options: ['-machine', 'q35', '-cpu', 'max,la57=off,pku=off'], console: 'ttyS0' },
  aarch64: {
    // Nothing boots from the network, whose ROM comes in another package.
    options: ['-machine', 'virt,gic-version=3', '-cpu', 'cortex-a76', '-global', 'virtio-net-pci.romfile='],
    // customize.sh knows the console of a PC alone, where nobody logs in either.
    console: 'ttyAMA0 systemd.getty_auto=no',
  },
};

export function startQemu({ image, drives, forwards, consoleLog }: Computer): Qemu {
  const { options, console } = BOARDS[image.processor.kernel];
  const emulator = emulatorOf(image.processor);
  const network = forwards.map(({ host, guest }) => `hostfwd=tcp:127.0.0.1:${host}-:${guest}`);
  const child = spawn(
    // The kernel ends it with the test, however that ends.
    'setpriv',
    [
      ...['--pdeathsig', 'KILL', emulator.program, ...emulator.options],
      ...['-nodefaults', '-display', 'none', ...options],
      ...['-accel', `tcg,thread=multi,tb-size=${TRANSLATED_MIB}`],
      ...['-smp', '2', '-m', String(MEMORY_MIB)],
      ...['-kernel', image.kernel, '-initrd', image.initrd],
      // A kernel that panics starts again, and the test sees another boot.
      ...['-append', `root=/dev/vda rw console=${console} net.ifnames=0 panic=1`],
      ...['-chardev', `file,id=console,path=${consoleLog},append=on`, '-serial', 'chardev:console'],
      ...drives.flatMap((drive) => ['-drive', drive]),
      ...['-netdev', ['user,id=network', ...network].join(',')],
      ...['-device', 'virtio-net-pci,netdev=network', '-device', 'virtio-rng-pci'],
    ],
    { stdio: ['ignore', 'ignore', 'pipe'] },
  );
  return watch(child);
}

function watch(child: ChildProcess): Qemu {
  let said = '';
  let end: string | null = null;
  child.stderr?.on('data', (chunk) => {
    said = `${said}${chunk}`.slice(-2_000);
  });
  const exited = new Promise<void>((resolve) => {
    child.once('error', (error) => {
      end = error.message;
      resolve();
    });
    child.once('exit', (code, signal) => {
      end = `QEMU ended with ${signal ?? code}: ${said}`;
      resolve();
    });
  });
  return {
    ended: () => end,
    async kill() {
      child.kill('SIGKILL');
      await exited;
    },
  };
}
