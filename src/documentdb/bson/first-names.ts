/** Collects the field names of a result's first documents, which describe the lines of a saved file to its reader. */
import { limits } from '../../model/limits.ts';
import { fieldNames } from './field.ts';

const { savedNames, savedNamesOf, noteNameChars } = limits.documents;

export class FirstNames {
  readonly #names = new Set<string>();
  #documents = 0;

  /** In order of first appearance; long ones are cut. */
  get list(): string[] {
    return [...this.#names];
  }

  add(document: Uint8Array): void {
    if (this.#documents === savedNamesOf) return;
    this.#documents++;
    for (const name of fieldNames(document, savedNames)) {
      if (this.#names.size === savedNames) return;
      this.#names.add(name.slice(0, noteNameChars).toWellFormed());
    }
  }
}
