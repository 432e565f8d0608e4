/** Versions by Semantic Versioning 2.0.0: which texts are one, and which of two comes later. */

const form =
  /^(0|[1-9]\d*)\.(0|[1-9]\d*)\.(0|[1-9]\d*)(?:-((?:0|[1-9]\d*|\d*[A-Za-z-][\dA-Za-z-]*)(?:\.(?:0|[1-9]\d*|\d*[A-Za-z-][\dA-Za-z-]*))*))?$/;

/** Without build metadata, which no two versions differ by. */
export function isVersion(text: string): boolean {
  return form.test(text);
}

/** Returns a negative number where `a` comes before `b`, 0 where they are the same. Both must be versions. */
export function compareVersions(a: string, b: string): number {
  const [first, second] = [partsOf(a), partsOf(b)];
  for (const [at, number] of first.numbers.entries()) {
    const difference = number - (second.numbers[at] ?? 0);
    if (difference !== 0) return difference;
  }
  // A pre-release comes before its release.
  if (first.labels.length === 0 || second.labels.length === 0)
    return second.labels.length - first.labels.length;
  for (const [at, label] of first.labels.entries()) {
    const other = second.labels[at];
    if (other === undefined) return 1;
    const difference = compareLabels(label, other);
    if (difference !== 0) return difference;
  }
  return first.labels.length - second.labels.length;
}

function partsOf(version: string): { numbers: number[]; labels: string[] } {
  const [, major, minor, patch, labels] = form.exec(version) ?? [];
  return { numbers: [major, minor, patch].map(Number), labels: labels?.split('.') ?? [] };
}

/** Numbers come before words. */
function compareLabels(a: string, b: string): number {
  const [isNumber, isOtherNumber] = [/^\d+$/.test(a), /^\d+$/.test(b)];
  if (isNumber && isOtherNumber) return Number(a) - Number(b);
  if (isNumber !== isOtherNumber) return isNumber ? -1 : 1;
  return a < b ? -1 : Number(a > b);
}
