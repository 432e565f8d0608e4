/**
 * Record of the slot that each sandbox holds; it outlives the service. A symbolic link named by the sandbox
 * points to the slot's number, since making and removing one are single steps.
 */
import { mkdirSync, readdirSync, readlinkSync, rmSync, symlinkSync } from 'node:fs';
import { join } from 'node:path';
import { type Instance, slotsDir } from './plan.ts';

export interface Holders {
  /** Reads the slot numbers by sandbox id, each time from the disk. */
  read(): Map<string, number>;
  add(sandboxId: string, index: number): void;
  remove(sandboxId: string): void;
}

export function createHolders(instance: Instance): Holders {
  const dir = join(slotsDir(instance), 'held');
  return {
    read() {
      mkdirSync(dir, { recursive: true, mode: 0o700 });
      return new Map(readdirSync(dir).map((id) => [id, Number(readlinkSync(join(dir, id)))]));
    },
    add(sandboxId, index) {
      symlinkSync(String(index), join(dir, sandboxId));
    },
    remove(sandboxId) {
      rmSync(join(dir, sandboxId), { force: true });
    },
  };
}
