/** "Did you mean": the known words closest to a mistaken one. */

const MAX_WORD = 100;

/** Returns the best first, at most `count`; none when nothing is close. Ignores case and separators. */
export function nearest(word: string, known: readonly string[], count = 1): string[] {
  const wanted = plain(word.slice(0, MAX_WORD));
  // Every word is close to one or two letters.
  if (wanted.length < 3) return [];
  return known
    .flatMap((candidate) => {
      const forms = [plain(candidate), plain(withoutUnit(candidate))];
      const [best] = forms
        .map((form) => ({ form, distance: distance(wanted, form, tolerance(form)) }))
        .filter(({ form, distance }) => distance <= tolerance(form))
        .sort((a, b) => a.distance - b.distance);
      return best ? [{ candidate, distance: best.distance }] : [];
    })
    .sort((a, b) => a.distance - b.distance)
    .slice(0, count)
    .map(({ candidate }) => candidate);
}

/** Returns `memory` for memory_gb: units come last, and are easily forgotten. */
function withoutUnit(word: string): string {
  return word.replace(/[_-][a-z]+$/, '');
}

function plain(word: string): string {
  return word.toLowerCase().replace(/[^a-z0-9]/g, '');
}

function tolerance(word: string): number {
  return Math.max(1, Math.floor(word.length / 3));
}

/**
 * Counts the edits between the words, with a swap of two letters as one (optimal string alignment); one word inside the
 * other is nearer than its length suggests. Words whose lengths differ by more than `most` are not compared: comparing holds
 * the event loop.
 */
function distance(a: string, b: string, most: number): number {
  if (a.length >= 3 && b.length >= 3 && (b.startsWith(a) || a.startsWith(b) || b.endsWith(a))) return 1;
  if (Math.abs(a.length - b.length) > most) return Number.POSITIVE_INFINITY;
  let before: number[] = [];
  let previous = Array.from({ length: b.length + 1 }, (_, index) => index);
  for (let i = 1; i <= a.length; i++) {
    const row = [i];
    for (let j = 1; j <= b.length; j++) {
      const substituted = (previous[j - 1] ?? 0) + (a[i - 1] === b[j - 1] ? 0 : 1);
      const swapped = i > 1 && j > 1 && a[i - 1] === b[j - 2] && a[i - 2] === b[j - 1];
      const edits = Math.min(substituted, (previous[j] ?? 0) + 1, (row[j - 1] ?? 0) + 1);
      row.push(swapped ? Math.min(edits, (before[j - 2] ?? 0) + 1) : edits);
    }
    before = previous;
    previous = row;
  }
  return previous[b.length] ?? 0;
}
