/** Growth of machines' disks by owner, to find who fills the host's disk. Keeps only a few samples of each machine. */
import { limits } from '../../../model/limits.ts';
import type { Owners } from './owners.ts';

export interface DiskGrowth {
  /** @param held Bytes that each machine's disk takes on the host. @param at Time in milliseconds. */
  add(held: Map<string, number>, at: number): void;
  /**
   * Returns the machines of the owners who together explain most of the growth, fastest first; none while the growth
   * is small. @param frozen Machines that cannot grow.
   */
  fastest(frozen: ReadonlySet<string>): string[];
  /** Forgets all growth until now. */
  reset(): void;
}

interface Sample {
  bytes: number;
  at: number;
}

export function createDiskGrowth(owners: Pick<Owners, 'of'>): DiskGrowth {
  /** First sample of each machine, and its recent ones, newest last. */
  const samples = new Map<string, { first: Sample; recent: Sample[] }>();

  function explaining(growth: [id: string, bytes: number][], worth: number): string[] {
    const byOwner = new Map<string, number>();
    for (const [id, bytes] of growth) byOwner.set(owners.of(id), (byOwner.get(owners.of(id)) ?? 0) + bytes);
    const total = [...byOwner.values()].reduce((sum, bytes) => sum + bytes, 0);
    if (total < worth) return [];
    const chosen = new Set<string>();
    let explained = 0;
    for (const [owner, bytes] of [...byOwner].sort(([, a], [, b]) => b - a)) {
      if (explained >= limits.disk.growthPart * total) break;
      chosen.add(owner);
      explained += bytes;
    }
    // Their machines that hardly grew are left out.
    return growth
      .filter(([id, bytes]) => chosen.has(owners.of(id)) && bytes >= total / 100)
      .sort(([, a], [, b]) => b - a)
      .map(([id]) => id);
  }

  return {
    add(held, at) {
      for (const id of samples.keys()) if (!held.has(id)) samples.delete(id);
      for (const [id, bytes] of held) {
        const known = samples.get(id) ?? { first: { bytes, at }, recent: [] };
        const recent = known.recent.filter((sample) => at - sample.at <= limits.disk.recentMs);
        samples.set(id, { first: known.first, recent: [...recent, { bytes, at }] });
      }
    },

    fastest(frozen) {
      const grown = (since: (of: { first: Sample; recent: Sample[] }) => Sample | undefined) =>
        [...samples]
          .filter(([id]) => !frozen.has(id))
          .map(([id, of]): [string, number] => [
            id,
            Math.max(0, (of.recent.at(-1)?.bytes ?? 0) - (since(of)?.bytes ?? 0)),
          ]);
      const { recentGrowthBytes, growthBytes } = limits.disk;
      const lately = explaining(
        grown(({ recent }) => recent[0]),
        recentGrowthBytes,
      );
      return lately.length > 0
        ? lately
        : explaining(
            grown(({ first }) => first),
            growthBytes,
          );
    },

    reset: () => samples.clear(),
  };
}
