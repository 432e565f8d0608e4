/** Growth of machines' disks, by owner. Holds a few samples of each. */
import { limits } from '../../../model/limits.ts';
import type { Owners } from './owners.ts';

export interface DiskGrowth {
  /** @param held Bytes that each machine's disk takes on the host, at a time in milliseconds. */
  add(held: Map<string, number>, at: number): void;
  /**
   * Machines of those owners who together explain most of the growth, fastest first; none while nobody's is worth
   * mentioning. @param frozen Machines that cannot grow.
   */
  fastest(frozen: ReadonlySet<string>): string[];
  /** Growth until now counts no longer. */
  reset(): void;
}

interface Sample {
  bytes: number;
  at: number;
}

export function createDiskGrowth(owners: Pick<Owners, 'of'>): DiskGrowth {
  /** Of each machine its first sample, and those of the last moments; the newest is the last. */
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
    // A machine of theirs that hardly grew goes on.
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
