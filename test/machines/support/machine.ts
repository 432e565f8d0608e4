/** An emulated Debian machine of one test file: it boots, runs commands, reboots and loses its power. */
import { existsSync, readFileSync } from 'node:fs';
import { mkdtemp, rm } from 'node:fs/promises';
import { createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { imageOf, type Suite } from '../../../setup/debian/machines/recipe.ts';
import { hostProcessor, isForeign } from '../../../setup/processors/processor.ts';
import { createDisk } from './disk.ts';
import { type Qemu, startQemu } from './qemu.ts';
import { createSsh, type Ssh } from './ssh.ts';

export interface Machine extends Pick<Ssh, 'copyIn' | 'copyOut'> {
  /** Port of this host's loopback that leads to port 7420 of the machine's loopback. */
  servicePort: number;
  /** Runs a shell command as root, whatever its exit status. */
  run: Ssh['run'];
  /** As `run`, returns the standard output, and fails when the command does. */
  must(command: string, options?: Parameters<Ssh['run']>[1]): Promise<string>;
  /** As an administrator reboots it; resolves when the next boot answers. */
  reboot(): Promise<void>;
  /** Ends QEMU at once; what the machine had not flushed is lost. `boot` starts the machine again. */
  powerCut(): Promise<void>;
  /** Resolves when the machine answers. */
  boot(): Promise<void>;
  consoleLog(): string;
  /** Ends the machine, and removes all that it was. */
  close(): Promise<void>;
}

/** The forwarder inside passes connections on to the loopback (setup/debian/machines/customize.sh). */
const FORWARDER = 17_420;
/** 40 s on an idle host of two cores, several times that on a busy one. */
const BOOT_TIMEOUT_MS = 1_200_000;
const ATTEMPT_TIMEOUT_MS = 90_000;

/** @param payload Image of the file system that appears as /srv inside. */
export async function startMachine(
  suite: Suite,
  payload: string,
  processor = hostProcessor,
): Promise<Machine> {
  const image = imageOf(suite, processor);
  const target = isForeign(processor) ? `machines-${processor.debian}` : 'machines';
  if (!existsSync(image.disk))
    throw new Error(`the disk of the machine is not built: run \`make ${target}\``);
  const folder = await mkdtemp(join(tmpdir(), 'sandhaven-machine-'));
  const disks = [await createDisk('root', image.disk, folder), await createDisk('srv', payload, folder)];
  const consoleLog = join(folder, 'console.log');
  const [sshPort, servicePort] = [await freePort(), await freePort()];
  const ssh = createSsh(sshPort, image.key, folder);
  let qemu: Qemu | null = null;

  const machine: Machine = {
    servicePort,
    run: ssh.run,
    copyIn: ssh.copyIn,
    copyOut: ssh.copyOut,
    async must(command, options) {
      const { status, stdout, stderr } = await ssh.run(command, options);
      if (status === 0) return stdout;
      // The connection failed: the machine knows why.
      const reason = status === 255 ? `\n${qemu?.ended() ?? ''}\n${tail(machine.consoleLog())}` : '';
      throw new Error(`${command}: status ${status}\n${stdout}${stderr}${reason}`);
    },
    async boot() {
      qemu = startQemu({
        image,
        drives: disks.map((disk) => disk.drive()),
        forwards: [
          { host: sshPort, guest: 22 },
          { host: servicePort, guest: FORWARDER },
        ],
        consoleLog,
      });
      await answers(() => true);
    },
    async reboot() {
      const before = await bootId();
      await ssh.run('systemctl reboot');
      await ssh.disconnect();
      await answers((id) => id !== before);
    },
    async powerCut() {
      await qemu?.kill();
      await ssh.disconnect();
      for (const disk of disks) await disk.grow();
    },
    consoleLog: () => (existsSync(consoleLog) ? readFileSync(consoleLog, 'utf8') : ''),
    async close() {
      await qemu?.kill();
      await ssh.disconnect();
      await rm(folder, { recursive: true, force: true });
    },
  };

  const bootId = () => machine.must('cat /proc/sys/kernel/random/boot_id', { timeoutMs: ATTEMPT_TIMEOUT_MS });

  /** Waits for a boot that is meant. */
  async function answers(isMeant: (bootId: string) => boolean): Promise<void> {
    const deadline = Date.now() + BOOT_TIMEOUT_MS;
    for (;;) {
      const id = await bootId().catch(() => null);
      if (id !== null && isMeant(id)) return;
      // A machine that goes down without a word leaves a connection that never ends.
      await ssh.disconnect();
      const end = qemu?.ended() ?? null;
      if (end !== null) throw new Error(end);
      if (Date.now() > deadline) throw new Error(`no answer after the boot:\n${tail(machine.consoleLog())}`);
      await sleep(500);
    }
  }

  await machine.boot().catch(async (error: unknown) => {
    await machine.close();
    throw error;
  });
  return machine;
}

function tail(text: string): string {
  return text.split('\n').slice(-30).join('\n');
}

async function freePort(): Promise<number> {
  const server = createServer();
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const address = server.address();
  await new Promise((resolve) => server.close(resolve));
  if (address === null || typeof address === 'string') throw new Error('no port is free');
  return address.port;
}
