/** What an attack may cost the service and the host, sampled from the kernel while it goes on. */
import { readFileSync } from 'node:fs';

const SAMPLE_MS = 200;
const MiB = 1024 * 1024;

export interface Seen {
  /** The largest resident size of the service. */
  residentMb: number;
  /** The least memory that the host could have given out. */
  availableMb: number;
}

/** Samples until `stop`. */
export function watch(pid: number): { stop(): Seen } {
  const seen: Seen = { residentMb: residentMb(pid), availableMb: availableMb() };
  const timer = setInterval(() => {
    seen.residentMb = Math.max(seen.residentMb, residentMb(pid));
    seen.availableMb = Math.min(seen.availableMb, availableMb());
  }, SAMPLE_MS);
  return {
    stop() {
      clearInterval(timer);
      return seen;
    },
  };
}

/** 0 once the process has ended. */
export function residentMb(pid: number): number {
  try {
    return kibOf(readFileSync(`/proc/${pid}/status`, 'utf8'), 'VmRSS') / 1024;
  } catch {
    return 0;
  }
}

export function availableMb(): number {
  return (kibOf(readFileSync('/proc/meminfo', 'utf8'), 'MemAvailable') * 1024) / MiB;
}

function kibOf(text: string, field: string): number {
  return Number(new RegExp(`^${field}:\\s+(\\d+) kB$`, 'm').exec(text)?.[1] ?? 0);
}
