/** The names of the fields that the first documents of a result have, which tell its reader what the lines hold. */
import { limits } from '../../model/limits.ts';
import { fieldNames } from './field.ts';

const { savedNames, savedNamesOf, noteNameChars } = limits.documents;

export class FirstNames {
  readonly #names = new Set<string>();
  #documents = 0;

  /** In the order in which they were met; long ones are cut. */
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
