/** A double of `Slots`: namespaces made by unshare and pinned by bind mounts, without links, addresses or rules. */
import { spawn, spawnSync } from 'node:child_process';
import { existsSync, mkdirSync, readdirSync, rmSync, statfsSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { SandhavenError } from '../../src/model/errors.ts';
import type { Slot } from '../../src/runtime/oci/host/plan.ts';
import type { Slots } from '../../src/runtime/oci/network/slots-port.ts';

/** Type of the file system that pinned namespaces belong to; a file that is none was left by a crash. */
const NSFS = 0x6e736673;

/** Far above what services use, so that tests disturb none. */
const FIRST_INDEX = 30_000;

/** @param directory Holds the pins, named `<sandbox id>.<slot index>.{user,net}`: the only memory there is. */
export function createTestSlots(directory: string, count = 64): Slots {
  mkdirSync(directory, { recursive: true, mode: 0o700 });

  const pins = (): { sandboxId: string; index: number }[] =>
    readdirSync(directory)
      .filter((name) => name.endsWith('.net') && isPinned(name) && isPinned(name.replace(/net$/, 'user')))
      .map((name) => {
        const [sandboxId = '', index] = name.split('.');
        return { sandboxId, index: Number(index) };
      });

  const isPinned = (name: string): boolean =>
    existsSync(join(directory, name)) && statfsSync(join(directory, name)).type === NSFS;

  const slotOf = ({ sandboxId, index }: { sandboxId: string; index: number }): Slot => ({
    index,
    uidBase: 200_000 + 65_536 * index,
    userNamespacePath: join(directory, `${sandboxId}.${index}.user`),
    netNamespacePath: join(directory, `${sandboxId}.${index}.net`),
    address: '10.99.0.2',
    gateway: '10.99.0.1',
    hostInterface: 'none',
  });

  const find = (sandboxId: string): Slot | null => {
    const pin = pins().find((candidate) => candidate.sandboxId === sandboxId);
    return pin ? slotOf(pin) : null;
  };

  async function release(sandboxId: string): Promise<void> {
    for (const name of readdirSync(directory).filter((candidate) => candidate.startsWith(`${sandboxId}.`))) {
      spawnSync('umount', ['--lazy', join(directory, name)]);
      rmSync(join(directory, name));
    }
  }

  return {
    traffic: { read: async () => [], limit: async () => {}, linkMbps: () => null, assigned() {} },
    claim() {},
    async init() {},
    async acquire(sandboxId) {
      const held = find(sandboxId);
      if (held) return held;
      await release(sandboxId);
      const taken = new Set(pins().map(({ index }) => index));
      const free = Array.from({ length: count }, (_, i) => FIRST_INDEX + i).find(
        (index) => !taken.has(index),
      );
      if (free === undefined) throw new SandhavenError('resource_exhausted', 'No slot is left.');
      const slot = slotOf({ sandboxId, index: free });
      await pin(slot);
      return slot;
    },
    get: async (sandboxId) => find(sandboxId),
    release,
    async setNetwork() {},
    async networkSet() {},
    held: async () => pins().map(({ sandboxId }) => sandboxId),
    free: () => count - pins().length,
    async close() {},
    async purge() {
      for (const name of readdirSync(directory)) await release(name.split('.')[0] ?? '');
      rmSync(directory, { recursive: true, force: true });
    },
  };
}

async function pin(slot: Slot): Promise<void> {
  const holder = spawn('unshare', ['--user', '--net', 'sh', '-c', 'echo ready; read line'], {
    stdio: ['pipe', 'pipe', 'inherit'],
  });
  await new Promise((resolve, reject) => {
    holder.stdout.once('data', resolve);
    holder.once('error', reject);
  });
  for (const map of ['uid_map', 'gid_map']) {
    writeFileSync(`/proc/${holder.pid}/${map}`, `0 ${slot.uidBase} 65536\n`);
  }
  for (const [kind, path] of [
    ['user', slot.userNamespacePath],
    ['net', slot.netNamespacePath],
  ] as const) {
    writeFileSync(path, '', { mode: 0o600 });
    const { status, stderr } = spawnSync('mount', ['--bind', `/proc/${holder.pid}/ns/${kind}`, path]);
    if (status !== 0) throw new Error(`pinning failed: ${stderr}`);
  }
  holder.stdin.end('\n');
  await new Promise((resolve) => holder.once('exit', resolve));
}
