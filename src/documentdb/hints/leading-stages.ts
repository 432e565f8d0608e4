/**
 * Finds the stages of a pipeline that still see the collection's own documents, so that its schema describes their
 * fields: those that choose, order or unwind documents, or add fields beside the others, up to the first that makes new
 * documents.
 */
import type { CollectionSchema } from '../../model/document-schema.ts';
import { isDocument } from './values.ts';

export type Stage = Record<string, unknown>;

export interface LeadingStage {
  index: number;
  /** `$match`, `$group` … */
  name: string;
  body: unknown;
  /** First segments of the paths that earlier stages have written: the schema does not describe these. */
  written: ReadonlySet<string>;
}

export interface Leading {
  leading: LeadingStage[];
  /** First stage that makes new documents; its input is still the collection's own. */
  reshaping: LeadingStage | null;
}

export function leadingOf(stages: readonly unknown[]): Leading {
  const leading: LeadingStage[] = [];
  let written: ReadonlySet<string> = new Set();
  for (const [index, stage] of stages.entries()) {
    const name = isDocument(stage) ? Object.keys(stage)[0] : undefined;
    if (name === undefined || Object.keys(stage as Stage).length !== 1) break;
    const found: LeadingStage = { index, name, body: (stage as Stage)[name], written };
    const writes = WRITES.get(name);
    if (writes === undefined) return { leading, reshaping: found };
    leading.push(found);
    const paths = writes(found.body).filter((path) => typeof path === 'string');
    written = new Set([...written, ...paths.map(firstSegment)]);
  }
  return { leading, reshaping: null };
}

/** Returns the schema without the fields that stages have written. */
export function without(schema: CollectionSchema, written: ReadonlySet<string>): CollectionSchema {
  if (written.size === 0) return schema;
  return { ...schema, fields: schema.fields.filter(({ path }) => !written.has(firstSegment(path))) };
}

export function firstSegment(path: string): string {
  return path.split('.', 1)[0] ?? path;
}

/** Paths written by each stage that keeps the documents' shape. */
const WRITES = new Map<string, (body: unknown) => unknown[]>([
  ['$match', nothing],
  ['$sort', nothing],
  ['$limit', nothing],
  ['$skip', nothing],
  ['$sample', nothing],
  ['$geoNear', values('distanceField', 'includeLocs')],
  ['$unwind', values('includeArrayIndex')],
  ['$lookup', values('as')],
  ['$graphLookup', values('as')],
  ['$addFields', keys],
  ['$set', keys],
  ['$setWindowFields', (body) => (isDocument(body) ? keys(body['output']) : [])],
]);

function nothing(): unknown[] {
  return [];
}

function keys(body: unknown): unknown[] {
  return isDocument(body) ? Object.keys(body) : [];
}

function values(...names: string[]): (body: unknown) => unknown[] {
  return (body) => (isDocument(body) ? names.map((name) => body[name]) : []);
}
