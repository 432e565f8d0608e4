/** Choice of the machines to end when all together hold too much. */
export interface Held {
  id: string;
  owner: string;
  bytes: number;
}

/**
 * Returns the machines without which the rest is within the bound: each time the largest of the owner whose machines
 * hold most. So many small machines of one owner end before a large one of another.
 */
export function endedFirst(held: Held[], mostBytes: number): Held[] {
  const left = held.toSorted((a, b) => b.bytes - a.bytes);
  const byOwner = new Map<string, number>();
  for (const { owner, bytes } of left) byOwner.set(owner, (byOwner.get(owner) ?? 0) + bytes);
  let total = left.reduce((sum, { bytes }) => sum + bytes, 0);
  const ended: Held[] = [];
  while (total > mostBytes) {
    const [most] = [...byOwner].toSorted(([, a], [, b]) => b - a);
    const at = left.findIndex(({ owner }) => owner === most?.[0]);
    const [machine] = left.splice(at, 1);
    if (!machine) break;
    byOwner.set(machine.owner, (byOwner.get(machine.owner) ?? 0) - machine.bytes);
    total -= machine.bytes;
    ended.push(machine);
  }
  return ended;
}
