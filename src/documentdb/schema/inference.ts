/** Infers the schema of a collection from the added documents. */
import type { FieldSchema } from '../../model/documents/schema.ts';
import { limits } from '../../model/limits.ts';
import { MalformedBson } from '../bson/malformed.ts';
import { describeFields } from './describe.ts';
import { DocumentStats, FieldBudget } from './document-stats.ts';
import { Walk } from './walk.ts';

const { fields: mostFields } = limits.documents.schema;

export class SchemaInference {
  readonly #budget = new FieldBudget();
  readonly #walk = new Walk(this.#budget);
  readonly #root = new DocumentStats(this.#budget, true);

  get sampled(): number {
    return this.#root.count;
  }

  /** Adds one BSON document. A damaged one throws; the instance is of no use afterwards. */
  add(document: Uint8Array): void {
    try {
      this.#walk.document(this.#root, document);
    } catch (error) {
      // A read beyond the document's bytes.
      if (error instanceof RangeError) throw new MalformedBson('a value is longer than its document');
      throw error;
    }
  }

  fields(): FieldSchema[] {
    return describeFields(this.#root);
  }

  /** Returns notes about limits that the fields cannot show. */
  notes(): string[] {
    const notes: string[] = [];
    if (this.#budget.exceeded) {
      notes.push(
        `The documents have more than ${mostFields} different fields, or very long names; those met later are left out.`,
      );
    }
    if (this.#walk.tooDeep) {
      notes.push(
        `Documents are nested more than ${limits.documents.depth} levels deep; deeper ones are left out.`,
      );
    }
    return notes;
  }
}
