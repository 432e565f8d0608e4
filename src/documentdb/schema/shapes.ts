/**
 * Describes the shapes of a field's strings: `12.5 kg` is `9.9 kg`. Runs of digits become one 9; a word stays when
 * several strings have it in that place, and becomes an `a` otherwise, so that no single string's words show.
 */
import { limits } from '../../model/limits.ts';

const { shapedStrings, shapes: mostShapes, shownShapes } = limits.documents.schema;

/** Number of strings that must share a word to show it. */
const several = 2;

export class Shapes {
  readonly #counts = new Map<string, number>();
  #strings = 0;

  /** Takes no more strings. */
  get full(): boolean {
    return this.#strings >= shapedStrings;
  }

  add(text: string): void {
    this.#count(text.replace(/\p{Nd}+/gu, '9'), 1);
  }

  merge(other: Shapes): void {
    for (const [shape, count] of other.#counts) this.#count(shape, count);
  }

  /** Returns a few, the most frequent first. A single word among many is no information. */
  list(): string[] {
    const found = new Map<string, number>();
    for (const [shape, count] of this.#counts) {
      const shown = count >= several ? shape : wordless(shape);
      found.set(shown, (found.get(shown) ?? 0) + count);
    }
    found.delete('a');
    const byCount = [...found].toSorted(([, a], [, b]) => b - a);
    return byCount.slice(0, shownShapes).map(([shape]) => shape);
  }

  /** Shapes beyond the limit are counted without their words. */
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
