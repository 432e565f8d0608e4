/** Searching for content, and replacing it. */
import { z } from 'zod';
import type { AgentSearch, FileMatches } from '../control/ports.ts';
import { limits } from '../model/limits.ts';
import { type Ask, type Item, tooSlow } from './call.ts';
import { ProtocolError, usualBounds } from './frames.ts';
import { parseReply, rows } from './replies.ts';

const bounds = limits.search;

const count = z.int().min(0);
/** As text a byte of a path is one to three characters. */
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
    // As many as there are matches, so there is one at least.
    match_count: z.int().min(1).max(bounds.matchesPerFile),
    capped: z.boolean(),
  })
  .refine((file) => file.match_count === file.matches.length);

const searchReply = z.object({ total_count: count, literal: z.boolean() });

const replacedFile = z.object({
  path,
  status: z.enum(['success', 'error']),
  replacements: count,
  error: z.string().max(bounds.errorChars).optional(),
});

const replaceReply = z.object({ files_modified: count, literal: z.boolean() });

export function searchOf(ask: Ask): AgentSearch {
  return {
    searchContent: (id, { path, query, filePattern, contextLines, maxItems, offset }, signal) =>
      ask(
        id,
        {
          request: {
            v: 2,
            op: 'search',
            path,
            query,
            file_pattern: filePattern,
            context_lines: contextLines,
            max_matches: bounds.matchesPerFile,
            max_items: maxItems,
            offset,
            timeout_ms: bounds.timeoutMs,
          },
          signal,
          timeoutMs: bounds.timeoutMs + bounds.overrunMs,
          timeoutError: tooSlow,
          reply: searchReply,
          maxItems,
          itemBounds: { ...usualBounds, ...bounds.page },
        },
        ({ items, reply }) => {
          const files = rowsOf(items, maxItems, (json) => parseReply(rows(fileMatches, maxItems), json));
          if (files.length > reply.total_count) throw new ProtocolError('more files than there are');
          return { files: files.map(toMatches), totalCount: reply.total_count, literal: reply.literal };
        },
      ),
    replaceInFiles: (id, { pattern, replacement, files }, signal) =>
      ask(
        id,
        {
          request: {
            v: 2,
            op: 'replace',
            pattern,
            replacement,
            files,
            max_files: bounds.files,
            file_bytes: bounds.fileBytes,
            file_timeout_ms: bounds.fileTimeoutMs,
            timeout_ms: bounds.replaceTimeoutMs,
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
          return { results, filesModified: modified, literal: reply.literal };
        },
      ),
  };
}

function toMatches({ match_count, ...file }: z.output<typeof fileMatches>): FileMatches {
  return { ...file, matchCount: match_count };
}

function rowsOf<T>(parts: Item[], most: number, parse: (json: unknown) => T[]): T[] {
  const all = parts.flatMap(({ json }) => parse(json));
  if (all.length > most) throw new ProtocolError('more items than asked for');
  return all;
}
