/** Agent operations that search for content and replace it. */
import { z } from 'zod';
import type { AgentSearch, ContentOutput, FileMatches } from '../control/ports/index.ts';
import { limits } from '../model/limits.ts';
import { type Ask, type Item, tooSlow } from './call.ts';
import { ProtocolError, usualBounds } from './frames.ts';
import { parseReply, rows } from './replies.ts';

const bounds = limits.search;

const count = z.int().min(0);
/** Path as text: one to three characters per byte. */
const path = z
  .string()
  .min(1)
  .max(3 * (limits.pathBytes + 1));
const line = z.string().max(bounds.shownLineUnits);
const context = rows(line, bounds.contextLines.max);

const fileMatches = z
  .object({
    path,
    matches: rows(
      z.object({ line: z.int().min(1), text: line, before: context, after: context }),
      bounds.matchesPerFile,
    ),
    // Equals the number of matches, so at least one.
    match_count: z.int().min(1).max(bounds.matchesPerFile),
    capped: z.boolean(),
  })
  .refine((file) => file.match_count === file.matches.length)
  .transform(({ match_count, ...file }): FileMatches => ({ ...file, matchCount: match_count }));

const fileCount = z
  .object({ path, match_count: z.int().min(1) })
  .transform(({ path, match_count }): FileMatches => ({ path, matchCount: match_count }));

const rowSchemas: Record<ContentOutput, z.ZodType<FileMatches>> = {
  matches: fileMatches,
  files: z.object({ path }),
  counts: fileCount,
};

const plainCount = z.int().min(1).optional();

const searchReply = z.object({ total_count: count, literal: z.boolean(), plain_count: plainCount });

const replacedFile = z.object({
  path,
  status: z.enum(['success', 'error']),
  replacements: count,
  error: z.string().max(bounds.errorChars).optional(),
});

const replaceReply = z.object({ files_modified: count, literal: z.boolean(), plain_count: plainCount });

export function searchOf(ask: Ask): AgentSearch {
  return {
    searchContent: (id, { output = 'matches', ...query }, signal) =>
      ask(
        id,
        {
          request: {
            op: 'search',
            user: query.user,
            path: query.path,
            query: query.query,
            file_pattern: query.filePattern,
            context_lines: query.contextLines,
            max_matches: bounds.matchesPerFile,
            max_items: query.maxItems,
            offset: query.offset,
            timeout_ms: bounds.timeoutMs,
            ...newer({ literal: query.literal, output: output === 'matches' ? undefined : output }),
          },
          signal,
          timeoutMs: bounds.timeoutMs + bounds.overrunMs,
          timeoutError: tooSlow,
          reply: searchReply,
          maxItems: query.maxItems,
          itemBounds: { ...usualBounds, ...bounds.page },
        },
        ({ items, reply }) => {
          const page = rows(rowSchemas[output], query.maxItems);
          const files = rowsOf(items, query.maxItems, (json) => parseReply(page, json));
          if (files.length > reply.total_count) throw new ProtocolError('more files than there are');
          return { files, totalCount: reply.total_count, ...howRead(reply) };
        },
      ),
    replaceInFiles: (id, { user, pattern, replacement, files, literal, dryRun, exclude = [] }, signal) =>
      ask(
        id,
        {
          request: {
            op: 'replace',
            user,
            pattern,
            replacement,
            files,
            max_files: bounds.files,
            file_bytes: bounds.fileBytes,
            file_timeout_ms: bounds.fileTimeoutMs,
            timeout_ms: bounds.replaceTimeoutMs,
            ...newer({ literal, dry_run: dryRun, exclude: exclude.length > 0 ? exclude : undefined }),
          },
          signal,
          timeoutMs: bounds.replaceTimeoutMs + bounds.overrunMs,
          timeoutError: tooSlow,
          reply: replaceReply,
          maxItems: bounds.files,
        },
        ({ items, reply }) => {
          const edited = rowsOf(items, bounds.files, (json) =>
            parseReply(rows(replacedFile, bounds.files), json),
          );
          const modified = edited.filter(({ replacements }) => replacements > 0).length;
          if (modified !== reply.files_modified) throw new ProtocolError('rows that do not add up');
          const results = edited.map(({ error, ...row }) => (error === undefined ? row : { ...row, error }));
          return { results, filesModified: modified, ...howRead(reply) };
        },
      ),
  };
}

/** Later fields, left out when unset: an agent of an earlier version would refuse them. */
function newer(fields: Record<string, unknown>): Record<string, unknown> {
  return Object.fromEntries(
    Object.entries(fields).filter(([, value]) => value !== undefined && value !== false),
  );
}

function howRead({ literal, plain_count }: { literal: boolean; plain_count?: number | undefined }) {
  return { literal, ...(plain_count === undefined ? {} : { plainCount: plain_count }) };
}

function rowsOf<T>(parts: Item[], most: number, parse: (json: unknown) => T[]): T[] {
  const all = parts.flatMap(({ json }) => parse(json));
  if (all.length > most) throw new ProtocolError('more items than asked for');
  return all;
}
