/** The schema of a collection, as far as the documents show it that were added. */
import type { FieldSchema } from '../../model/documents/schema.ts';
import { limits } from '../../model/limits.ts';
import { MalformedBson } from '../bson/malformed.ts';
import { describeFields } from './describe.ts';
import { DocumentStats } from './document-stats.ts';
import { FieldBudget } from './field-budget.ts';
import { Walk } from './walk.ts';

const { fields: mostFields } = limits.documents.schema;

export class SchemaInference {
  readonly #budget = new FieldBudget();
  readonly #walk = new Walk(this.#budget);
  readonly #root = new DocumentStats(this.#budget, true);

  get sampled(): number {
    return this.#root.count;
  }

  /** One document as BSON. One that is damaged is an error, after which this is of no use. */
  add(document: Uint8Array): void {
    try {
      this.#walk.document(this.#root, document);
    } catch (error) {
      // A read outside of the document's bytes.
      if (error instanceof RangeError) throw new MalformedBson('a value is longer than its document');
      throw error;
    }
  }

  fields(): FieldSchema[] {
    return describeFields(this.#root);
  }

  /** What the fields do not say of themselves. */
  notes(): string[] {
    const notes: string[] = [];
    if (this.#budget.exceeded) {
      notes.push(
        `The documents have more than ${mostFields} different fields, or very long names; those met later are left out.`,
      );
    }
    if (this.#walk.tooDeep) {
      notes.push(
        `Documents lie in each other more than ${limits.documents.depth} deep; what is deeper is left out.`,
      );
    }
    return notes;
  }
}
