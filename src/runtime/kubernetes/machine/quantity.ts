/** Quantities as Kubernetes writes them: a decimal number with a suffix. */

const factors: Record<string, number> = {
  n: 1e-9,
  u: 1e-6,
  m: 1e-3,
  '': 1,
  k: 1e3,
  M: 1e6,
  G: 1e9,
  T: 1e12,
  P: 1e15,
  E: 1e18,
  Ki: 2 ** 10,
  Mi: 2 ** 20,
  Gi: 2 ** 30,
  Ti: 2 ** 40,
  Pi: 2 ** 50,
  Ei: 2 ** 60,
};

/** Returns the number of cores, bytes or devices; 0 for a text that is no quantity, or for none. */
export function amountOf(quantity: string | undefined): number {
  const match = /^([+-]?\d+(?:\.\d*)?(?:[eE][+-]?\d+)?)([A-Za-z]*)$/.exec(quantity ?? '');
  const factor = factors[match?.[2] ?? '?'];
  return match && factor !== undefined ? Number(match[1]) * factor : 0;
}
