/** Sandbox.SearchContent */
import { z } from 'zod';
import { limits } from '../../model/limits.ts';
import { integerWithDefault } from '../parameters/integer.ts';
import { offsetOf, offsetOutput, offsetParameters } from '../parameters/pagination.ts';
import { glob, rootedPath } from '../parameters/path.ts';
import { optionalSandbox } from '../parameters/sandbox.ts';
import { textWithoutNul } from '../parameters/text.ts';
import { present } from '../present.ts';
import { defineTool } from '../tool.ts';

export const searchContent = defineTool({
  name: 'Sandbox.SearchContent',
  title: 'Search file contents',
  description:
    'Finds lines in files as grep -rE does, hidden files included, binary ones skipped. Returns ' +
    'matching files by path, each with up to 50 matches (line, text, before, after); capped: there are ' +
    'more. literal: query was no valid expression, so plain text. timeout: narrow path or file_pattern.',
  input: z.strictObject({
    query: textWithoutNul()
      .min(1)
      .max(limits.search.queryChars)
      .describe('Text or extended regular expression (grep -E, and \\d \\w \\s \\b \\1).'),
    path: rootedPath('Directory or file'),
    sandbox: optionalSandbox,
    file_pattern: glob().optional().describe('Only files whose name matches this glob, such as *.py.'),
    context_lines: integerWithDefault('Lines around each match', limits.search.contextLines),
    ...offsetParameters,
  }),
  output: z.looseObject({
    files: z.array(
      z.looseObject({
        path: z.string(),
        matches: z.array(
          z.looseObject({
            line: z.int(),
            text: z.string(),
            before: z.array(z.string()),
            after: z.array(z.string()),
          }),
        ),
        match_count: z.int(),
        capped: z.boolean(),
      }),
    ),
    ...offsetOutput,
    literal: z.boolean(),
  }),
  annotations: { readOnlyHint: true, destructiveHint: false, idempotentHint: true, openWorldHint: false },
  async handler(parameters, { services, caller, signal }) {
    const { path, query, file_pattern, context_lines, max_items, offset } = parameters;
    const found = await services.files.search(
      caller,
      parameters.sandbox,
      {
        path,
        query,
        contextLines: context_lines,
        maxItems: max_items,
        offset,
        ...present({ filePattern: file_pattern }),
      },
      signal,
    );
    return {
      files: found.files.map(({ path, matches, matchCount, capped }) => ({
        path,
        matches: matches.map((match) => ({ ...match })),
        match_count: matchCount,
        capped,
      })),
      ...offsetOf(found.totalCount, found.files.length, offset),
      literal: found.literal,
    };
  },
});
