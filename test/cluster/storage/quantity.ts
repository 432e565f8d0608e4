/** Sizes as Kubernetes writes them. */

const units: Record<string, number> = {
  '': 1,
  k: 1e3,
  M: 1e6,
  G: 1e9,
  Ki: 2 ** 10,
  Mi: 2 ** 20,
  Gi: 2 ** 30,
};

/** Throws for a quantity that is no whole number of bytes. */
export function bytesOf(quantity: string): number {
  const [, number, unit = ''] = /^(\d+)([A-Za-z]*)$/.exec(quantity) ?? [];
  const factor = units[unit];
  if (number === undefined || factor === undefined) throw new Error(`no size of a volume: ${quantity}`);
  return Number(number) * factor;
}
