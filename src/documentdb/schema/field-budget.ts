/** Bounds the number of distinct fields of a collection, so that hostile documents cannot fill the memory. */
import { limits } from '../../model/limits.ts';

export class FieldBudget {
  #left: number = limits.documents.schema.fields;
  /** Fields were left out. */
  exceeded = false;

  take(): boolean {
    if (this.#left === 0) return false;
    this.#left--;
    return true;
  }

  release(fields: number): void {
    this.#left += fields;
  }
}
