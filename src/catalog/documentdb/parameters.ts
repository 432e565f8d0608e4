/** Parameters and outputs that several tools of the document database share. */
import { z } from 'zod';
import type { CollectionName } from '../../model/document-schema.ts';
import { limits } from '../../model/limits.ts';
import { atMostBytes, integerWithDefault, path, text, textWithoutNul } from '../parameters/scalars.ts';

const bounds = limits.documents;

export const databaseName = name(bounds.databaseNameBytes).describe('Database.');

export const collectionParameters = {
  database_name: databaseName,
  collection_name: name(bounds.collectionNameBytes).describe('Collection or view.'),
};

export const filter = json().optional().describe('Filter as JSON text (default: all documents).');

export function json() {
  return text().check(atMostBytes(bounds.textBytes));
}

/** Bounds of a result, or its target in a sandbox. */
export const resultParameters = {
  limit: mostDocuments(),
  max_bytes: integerWithDefault('Most bytes of documents', bounds.resultBytes),
  save_to_sandbox: textWithoutNul()
    .min(1)
    .max(limits.sandboxNameChars)
    .optional()
    .describe('Started sandbox to save all results in, as JSON lines and without limits; none are returned.'),
  save_to_path: path().optional().describe('New file in it, beneath /workspace.'),
};

interface Result {
  limit?: number | undefined;
  save_to_sandbox?: string | undefined;
  save_to_path?: string | undefined;
}

/** Rejects half of a target. */
export function checkTarget({ value, issues }: { value: Result; issues: z.core.$ZodRawIssue[] }): void {
  const { save_to_sandbox, save_to_path } = value;
  if ((save_to_sandbox === undefined) === (save_to_path === undefined)) return;
  const [missing, given] =
    save_to_path === undefined ? ['save_to_path', 'save_to_sandbox'] : ['save_to_sandbox', 'save_to_path'];
  issues.push({ code: 'custom', path: [missing], input: value, message: `is needed with ${given}` });
}

export function collectionOf(parameters: { database_name: string; collection_name: string }): CollectionName {
  return { database: parameters.database_name, collection: parameters.collection_name };
}

export const notes = z.array(z.string()).optional();

export const documentsOutput = z.looseObject({
  result: z.array(z.string()),
  returned: z.int(),
  has_more: z.boolean(),
  next: z.looseObject({ filter_dict: z.string().optional(), skip: z.int().optional() }).optional(),
  saved: z
    .looseObject({
      sandbox: z.string(),
      path: z.string(),
      count: z.int(),
      size_bytes: z.int(),
      fields: z.array(z.string()),
    })
    .optional(),
  notes,
});

export const readOnly = {
  readOnlyHint: true,
  destructiveHint: false,
  idempotentHint: true,
  openWorldHint: true,
};

/**
 * Annotations of a tool that can save: it may create a file, replaces none, and a repeated call changes nothing more.
 */
export const mayMakeAFile = { ...readOnly, readOnlyHint: false };

/** Takes the default for a returned result only; a saved one has no limit by default. */
function mostDocuments() {
  const { min, max, default: fallback } = bounds.limit;
  const description = `Most documents (${min}-${max}, default ${fallback}).`;
  return z.int().min(min).max(max).optional().meta({ description, default: fallback });
}

function name(maxBytes: number) {
  return textWithoutNul().min(1).check(atMostBytes(maxBytes));
}
