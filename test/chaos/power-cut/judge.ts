/** What a disk after a power cut must hold, given what was acknowledged before it. */
import type { Histories, Version } from './workload.ts';

/**
 * When an acknowledged file is safe that did not ask to be at once. The disk is mounted with commit=1, the kernel
 * rounds its timer up to a whole second, and the commit itself takes a moment.
 */
const SAFE_AFTER_NS = 2_500_000_000n;

export type Fault = 'empty' | 'torn' | 'lost' | 'older';

export interface Verdict {
  faults: { name: string; fault: Fault }[];
  /** Files whose newest acknowledged content was there. */
  kept: number;
  /** The longest that a file which is not there, or is older, had been acknowledged; nanoseconds. */
  longestLost: bigint;
}

/**
 * @param found Digests by name; '' of an empty file.
 * @param safeAfterNs Longer where the machine is emulated, so that its kernel comes late to a commit.
 */
export function judge(
  histories: Histories,
  found: Map<string, string>,
  cutAt: bigint,
  safeAfterNs = SAFE_AFTER_NS,
): Verdict {
  const verdict: Verdict = { faults: [], kept: 0, longestLost: 0n };
  for (const [name, versions] of histories) {
    const begun = versions.filter((version) => version.begun <= cutAt);
    const newest = begun.findLastIndex(isAcknowledgedBy(cutAt));
    const safe = begun.findLastIndex(isSafeAt(cutAt, safeAfterNs));
    const content = found.get(name);
    const index = begun.findLastIndex(({ digest }) => digest === content);
    const fault = faultOf(content, index, safe);
    if (fault !== null) verdict.faults.push({ name, fault });
    else if (newest >= 0 && index >= newest) verdict.kept++;
    const lost = begun[index + 1]?.acknowledged ?? null;
    if (lost !== null && lost <= cutAt && cutAt - lost > verdict.longestLost)
      verdict.longestLost = cutAt - lost;
  }
  return verdict;
}

function faultOf(content: string | undefined, index: number, safe: number): Fault | null {
  if (content === undefined) return safe >= 0 ? 'lost' : null;
  if (content === '') return 'empty';
  if (index < 0) return 'torn';
  return index < safe ? 'older' : null;
}

function isAcknowledgedBy(time: bigint) {
  return ({ acknowledged }: Version) => acknowledged !== null && acknowledged <= time;
}

function isSafeAt(time: bigint, safeAfterNs: bigint) {
  return ({ acknowledged, durable }: Version) =>
    acknowledged !== null && acknowledged + (durable ? 0n : safeAfterNs) <= time;
}
