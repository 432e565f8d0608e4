/**
 * What the strings of a field look like: `12.5 kg` is `9.9 kg`. Runs of digits are one 9; words stay where several strings
 * have them in that place, and become an `a` otherwise, so that no string's own words show.
 */
import { limits } from '../../model/limits.ts';

const { shapedStrings, shapes: mostShapes, shownShapes } = limits.documents.schema;

/** From so many strings on a word is not one string's own. */
const several = 2;

export class Shapes {
  readonly #counts = new Map<string, number>();
  #strings = 0;

  /** It takes no more. */
  get full(): boolean {
    return this.#strings >= shapedStrings;
  }

  add(text: string): void {
    this.#count(text.replace(/\p{Nd}+/gu, '9'), 1);
  }

  merge(other: Shapes): void {
    for (const [shape, count] of other.#counts) this.#count(shape, count);
  }

  /** The most frequent first; a few. What is one word, of many, says nothing. */
  list(): string[] {
    const found = new Map<string, number>();
    for (const [shape, count] of this.#counts) {
      const told = count >= several ? shape : wordless(shape);
      found.set(told, (found.get(told) ?? 0) + count);
    }
    found.delete('a');
    const byCount = [...found].toSorted(([, a], [, b]) => b - a);
    return byCount.slice(0, shownShapes).map(([shape]) => shape);
  }

  /** Shapes beyond those that are kept are counted without their words. */
  #count(shape: string, count: number): void {
    this.#strings += count;
    const isRoom = this.#counts.has(shape) || this.#counts.size < mostShapes;
    const kept = isRoom ? shape : wordless(shape);
    if (isRoom || this.#counts.has(kept) || this.#counts.size < 2 * mostShapes) {
      this.#counts.set(kept, (this.#counts.get(kept) ?? 0) + count);
    }
  }
}

function wordless(shape: string): string {
  return shape.replace(/\p{L}+/gu, 'a');
}
