/**
 * Order of use of a collection, kept for each API key until the service restarts: a caller discovers it, loads its
 * schema, then queries it. A model that follows the order queries fields that exist.
 */

import type { CollectionName } from '../../model/document-schema.ts';
import { notFound, SandhavenError } from '../../model/errors.ts';
import { limits } from '../../model/limits.ts';
import { nearest } from '../../model/nearest.ts';
import type { Replicas } from '../ports/index.ts';

/** Mode for calls out of order: `enforce` refuses them, `advise` runs them with a note. */
export type OrderMode = 'enforce' | 'advise';

type Step = 'discovered' | 'schema';

interface Known {
  /** The collections of each discovered database. */
  discovered: Map<string, Set<string>>;
  loaded: Set<string>;
}

/** A step as replicas tell it to each other. */
type Seen =
  | { keyId: string; database: string; collections: string[]; adds: boolean }
  | { keyId: string; loaded: CollectionName };

const SUGGESTIONS = 3;

export class OrderOfUse {
  readonly #mode: OrderMode;
  readonly #replicas: Replicas;
  /** Knowledge of each key, in order of last use. */
  readonly #known = new Map<string, Known>();

  /** @param replicas Hear from each other what a caller has seen: the next call may go to another one. */
  constructor(mode: OrderMode, replicas: Replicas) {
    this.#mode = mode;
    this.#replicas = replicas;
    replicas.onTold('seen', (text) => this.#hear(JSON.parse(text)));
  }

  discovered(keyId: string, database: string, collections: readonly string[]): void {
    this.#discovered(keyId, database, collections);
    if (!this.#replicas.shared) return;
    for (const [at, part] of inMessages(collections).entries()) {
      this.#tell({ keyId, database, collections: part, adds: at > 0 });
    }
  }

  #discovered(keyId: string, database: string, collections: readonly string[]): void {
    const { discovered } = this.#of(keyId);
    discovered.delete(database);
    discovered.set(database, new Set(collections));
    let total = [...discovered.values()].reduce((sum, names) => sum + names.size, 0);
    for (const [oldest, names] of discovered) {
      if (total <= limits.documents.rememberedCollections || oldest === database) break;
      discovered.delete(oldest);
      total -= names.size;
    }
  }

  loaded(keyId: string, name: CollectionName): void {
    this.#loaded(keyId, name);
    this.#tell({ keyId, loaded: name });
  }

  #loaded(keyId: string, name: CollectionName): void {
    const { loaded } = this.#of(keyId);
    const key = keyOf(name);
    loaded.delete(key);
    loaded.add(key);
    for (const oldest of loaded) {
      if (loaded.size <= limits.documents.rememberedCollections) break;
      loaded.delete(oldest);
    }
  }

  /** Like `checkNow`; waits for news of another replica before it refuses. */
  async check(keyId: string, sources: readonly CollectionName[], step: Step): Promise<string[]> {
    const known = this.#of(keyId);
    if (this.#replicas.shared && sources.some((source) => problemWith(known, source, step))) {
      await new Promise((resolve) => setTimeout(resolve, limits.replicas.hearsayMs));
    }
    return this.checkNow(keyId, sources, step);
  }

  /**
   * Throws `failed_precondition` with the call to make first, or `not_found` for a collection that was not there at
   * discovery. In `advise` mode it returns these as notes.
   */
  checkNow(keyId: string, sources: readonly CollectionName[], step: Step): string[] {
    const known = this.#of(keyId);
    const notes: string[] = [];
    for (const source of sources) {
      const problem = problemWith(known, source, step);
      if (!problem) continue;
      if (this.#mode === 'enforce') throw problem;
      notes.push(`${problem.message} ${problem.fields.hint}`);
    }
    return notes;
  }

  #tell(seen: Seen): void {
    this.#replicas.tell('seen', JSON.stringify(seen));
  }

  #hear(seen: Seen): void {
    if ('loaded' in seen) {
      this.#loaded(seen.keyId, seen.loaded);
      return;
    }
    const { keyId, database, collections, adds } = seen;
    const before = adds ? (this.#of(keyId).discovered.get(database) ?? []) : [];
    this.#discovered(keyId, database, [...before, ...collections]);
  }

  #of(keyId: string): Known {
    const known = this.#known.get(keyId) ?? { discovered: new Map(), loaded: new Set() };
    this.#known.delete(keyId);
    this.#known.set(keyId, known);
    for (const oldest of this.#known.keys()) {
      if (this.#known.size <= limits.documents.rememberedKeys) break;
      this.#known.delete(oldest);
    }
    return known;
  }
}

function problemWith({ discovered, loaded }: Known, name: CollectionName, step: Step): SandhavenError | null {
  const { database, collection } = name;
  const listed = discovered.get(database);
  if (!listed) {
    return outOfOrder(
      `The collections of database '${database}' were not discovered yet.`,
      `Call DocumentDb.DiscoverCollections with ${JSON.stringify({ database_name: database })} first.`,
    );
  }
  if (!listed.has(collection)) {
    const close = nearest(collection, [...listed], SUGGESTIONS);
    return notFound(
      'collection',
      `There was no collection '${collection}' in database '${database}' when it was discovered.`,
      `${close.length > 0 ? `Did you mean ${close.join(' or ')}? ` : ''}DocumentDb.DiscoverCollections lists what is there now.`,
    );
  }
  if (step === 'discovered' || loaded.has(keyOf(name))) return null;
  const call = JSON.stringify({ database_name: database, collection_name: collection });
  return outOfOrder(
    `The schema of collection '${collection}' was not loaded yet.`,
    `Call DocumentDb.GetCollectionSchema with ${call} first.`,
  );
}

function outOfOrder(detail: string, hint: string): SandhavenError {
  return new SandhavenError('failed_precondition', detail, { hint });
}

function keyOf({ database, collection }: CollectionName): string {
  return JSON.stringify([database, collection]);
}

/** Splits names so that each part fits a message, escapes included. */
function inMessages(names: readonly string[]): string[][] {
  const parts: string[][] = [[]];
  let bytes = 0;
  for (const name of names) {
    bytes += Buffer.byteLength(JSON.stringify(JSON.stringify(name))) + 1;
    if (bytes > limits.replicas.messageBytes / 2) {
      parts.push([]);
      bytes = 0;
    }
    parts.at(-1)?.push(name);
  }
  return parts;
}
