/** Sandbox.SearchContent */
import { z } from 'zod';
import type { ContentMatch } from '../../control/ports/index.ts';
import { limits } from '../../model/limits.ts';
import { defineTool, withoutUndefined } from '../base/tool.ts';
import {
  counted,
  offsetOf,
  offsetOutput,
  offsetParameters,
  offsetText,
  type PageOf,
} from '../parameters/pagination.ts';
import { asUser, optionalSandbox } from '../parameters/sandbox.ts';
import {
  glob,
  integerWithDefault,
  literal,
  plainTextNote,
  rootedPath,
  textWithoutNul,
} from '../parameters/scalars.ts';

const around = z.array(z.string()).optional().describe('Lines around it; only with context_lines above 0.');

export const searchContent = defineTool({
  name: 'Sandbox.SearchContent',
  title: 'Search file contents',
  description:
    'Finds lines in files as grep -rE does, hidden files included, binary ones skipped. Returns ' +
    'matching files by path, each with up to 50 matches (line, text; before, after with context_lines); ' +
    'capped: there are more. A query that is no valid expression is plain text (literal). timeout: narrow ' +
    'path or file_pattern.',
  input: z.strictObject({
    query: textWithoutNul()
      .min(1)
      .max(limits.search.queryChars)
      .describe('Extended regular expression (grep -E, and \\d \\w \\s \\b \\1); foo(bar) needs literal.'),
    path: rootedPath('Directory or file'),
    sandbox: optionalSandbox,
    user: asUser,
    file_pattern: glob().optional().describe('Only files whose name matches this glob, such as *.py.'),
    context_lines: integerWithDefault('Lines around each match', limits.search.contextLines),
    literal,
    output: z
      .enum(['matches', 'files', 'counts'])
      .default('matches')
      .describe('Lines, only paths, or counts of lines (default matches).'),
    ...offsetParameters,
  }),
  output: z.looseObject({
    files: z.array(
      z.looseObject({
        path: z.string(),
        matches: z
          .array(
            z.looseObject({
              line: z.int(),
              text: z.string(),
              before: around,
              after: around,
            }),
          )
          .optional()
          .describe('Of output matches.'),
        match_count: z
          .int()
          .optional()
          .describe('Matching lines: up to 50 of output matches, all of counts, left out of files.'),
        capped: z.boolean().optional().describe('There are more matches. Of output matches.'),
      }),
    ),
    ...offsetOutput,
    total_count: z.int().describe('Matching files, those on other pages included.'),
    literal: z.boolean(),
    note: z
      .string()
      .optional()
      .meta({ unlisted: true })
      .describe('What the query would find if it were plain text.'),
  }),
  annotations: { readOnlyHint: true, destructiveHint: false, idempotentHint: true, openWorldHint: false },
  async handler(parameters, { services, caller, signal }) {
    const { path, user, query, file_pattern, context_lines, literal, output, max_items, offset } = parameters;
    const found = await services.files.search(
      caller,
      parameters.sandbox,
      {
        path,
        user,
        query,
        output,
        contextLines: context_lines,
        maxItems: max_items,
        offset,
        ...withoutUndefined({ filePattern: file_pattern, literal }),
      },
      signal,
    );
    return {
      files: found.files.map(({ path, matches, matchCount, capped }) => ({
        path,
        ...withoutUndefined({
          matches: matches?.map((match) => shownMatch(match, context_lines > 0)),
          match_count: matchCount,
          capped,
        }),
      })),
      ...offsetOf(found.totalCount, found.files.length, offset),
      literal: found.literal,
      ...(found.plainCount === undefined
        ? {}
        : { note: plainTextNote(`in ${counted(found.plainCount, 'file')}`) }),
    };
  },
  text: searchText,
});

/** Leaves out two empty lists from each match without context. */
function shownMatch({ line, text, before, after }: ContentMatch, withContext: boolean) {
  return withContext ? { line, text, before, after } : { line, text };
}

/** Text of SearchContent, in grep's form: a file's path, then `12: a line`, and `11- one around it`. */
interface SearchMatch {
  line: number;
  text: string;
  before?: string[] | undefined;
  after?: string[] | undefined;
}

interface SearchFile {
  path: string;
  matches?: SearchMatch[] | undefined;
  match_count?: number | undefined;
  capped?: boolean | undefined;
}

interface SearchResult extends PageOf {
  files: SearchFile[];
  literal: boolean;
  note?: string | undefined;
}

export function searchText(result: SearchResult): string {
  const verb = result.total_count === 1 ? 'matches' : 'match';
  const how = result.literal ? ' as plain text' : '';
  const what = `${counted(result.total_count, 'file')} ${verb}${how}`;
  const found = offsetText(what, result, result.files.map(fileText));
  return result.note === undefined ? found : `${found} ${result.note}`;
}

function fileText({ path, matches = [], match_count, capped }: SearchFile): string {
  const count =
    match_count === undefined ? '' : ` (${counted(match_count, 'line')}${capped ? ', and more' : ''})`;
  return [`${path}${count}`, ...matches.flatMap(linesOf)].join('\n');
}

function linesOf({ line, text, before = [], after = [] }: SearchMatch): string[] {
  return [
    ...before.map((around, index) => `${line - before.length + index}- ${around}`),
    `${line}: ${text}`,
    ...after.map((around, index) => `${line + 1 + index}- ${around}`),
  ];
}
