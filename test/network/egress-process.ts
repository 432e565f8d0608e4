/** The egress program of an instance, looked for from outside of the code that starts it. */
import { readdirSync, readFileSync, readlinkSync } from 'node:fs';
import type { Slot } from '../../src/runtime/oci/host/plan.ts';

/** Finds it by the address that it listens on, the gateway of its machines; null while none runs. */
export function egressPid({ gateway }: Slot): number | null {
  for (const pid of readdirSync('/proc').filter((name) => /^\d+$/.test(name))) {
    try {
      const isProgram = readlinkSync(`/proc/${pid}/exe`).endsWith('/sandhaven-egress');
      if (isProgram && readFileSync(`/proc/${pid}/cmdline`, 'utf8').includes(gateway)) return Number(pid);
    } catch {
      // It has ended.
    }
  }
  return null;
}

/** Returns false where none ran. */
export function killEgress(slot: Slot): boolean {
  const pid = egressPid(slot);
  if (pid === null) return false;
  process.kill(pid, 'SIGKILL');
  return true;
}
