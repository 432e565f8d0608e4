/** Makes fewer values of many, for lines with less room than values. */

/** Returns the average of each so many neighbours, the last ones together; what is not known counts as nothing. */
export function averages(values: readonly (number | null)[], each: number): number[] {
  const groups = Array.from({ length: Math.ceil(values.length / each) }, (_, group) => {
    const end = values.length - group * each;
    return values.slice(Math.max(0, end - each), end).filter((value) => value !== null);
  });
  const mean = (group: number[]) => group.reduce((sum, value) => sum + value, 0) / Math.max(1, group.length);
  return groups.map(mean).reverse();
}
