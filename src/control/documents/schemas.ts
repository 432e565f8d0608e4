/** Cache of the schemas loaded last, by collection; later queries are interpreted and explained with them. */
import type { CollectionName, CollectionSchema } from '../../model/documents/schema.ts';
import { limits } from '../../model/limits.ts';

export class Schemas {
  /** In order of last use. */
  readonly #kept = new Map<string, CollectionSchema>();

  keep(schema: CollectionSchema): void {
    const key = keyOf(schema.name);
    this.#kept.delete(key);
    this.#kept.set(key, schema);
    for (const oldest of this.#kept.keys()) {
      if (this.#kept.size <= limits.documents.schemas) break;
      this.#kept.delete(oldest);
    }
  }

  of(name: CollectionName): CollectionSchema | null {
    const key = keyOf(name);
    const schema = this.#kept.get(key);
    if (!schema) return null;
    this.#kept.delete(key);
    this.#kept.set(key, schema);
    return schema;
  }
}

function keyOf({ database, collection }: CollectionName): string {
  return JSON.stringify([database, collection]);
}
