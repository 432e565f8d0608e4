/** Sandbox.ReplaceInFiles */
import { posix } from 'node:path';
import { z } from 'zod';
import { limits } from '../../model/limits.ts';
import { defineTool, withoutUndefined } from '../base/tool.ts';
import { counted } from '../parameters/pagination.ts';
import { asUser, optionalSandbox } from '../parameters/sandbox.ts';
import { glob, literal, path, plainTextNote, text, textWithoutNul } from '../parameters/scalars.ts';

/** Left out of MCP's list: the text contains it. */
const unlisted = { unlisted: true };

export const replaceInFiles = defineTool({
  name: 'Sandbox.ReplaceInFiles',
  title: 'Find and replace in files',
  description:
    'Replaces every match, line by line as sed -E s/…/…/g, each file atomically. Returns total_replacements and ' +
    'files named by path, or with a match or error; a failed file leaves the others edited. A pattern that is no valid ' +
    'expression is plain text (literal).',
  input: z.strictObject({
    pattern: textWithoutNul()
      .min(1)
      .max(limits.search.queryChars)
      .describe('Extended regular expression within a line (\\b \\d \\w too); foo(bar) needs literal.'),
    replacement: text()
      .max(limits.search.replacementChars)
      .describe('New text; \\1-\\9 and & are what matched, \\& a plain &, \\n a newline.'),
    files: z
      .array(path())
      .min(1)
      .max(limits.search.entries)
      .describe('Paths or globs, from /workspace or absolute; ** is any depth: src/**/*.ts.'),
    sandbox: optionalSandbox,
    user: asUser,
    literal,
    dry_run: z.boolean().optional().describe('Count, and change nothing.'),
    exclude: z
      .array(glob())
      .max(limits.search.excludes)
      .optional()
      .describe('Globs of names or paths to skip: node_modules.'),
  }),
  output: z.looseObject({
    results: z.array(
      z.looseObject({
        path: z.string(),
        status: z.enum(['success', 'error']),
        replacements: z.int(),
        error: z.string().optional(),
      }),
    ),
    files_modified: z.int().describe('0 of a dry run.'),
    files_unchanged: z.int().meta(unlisted).describe('Files of globs without a match, which are not listed.'),
    total_replacements: z.int().describe('Made, or of a dry run to be made.'),
    dry_run: z.boolean().optional().meta(unlisted),
    literal: z.boolean(),
    note: z.string().optional().meta(unlisted).describe('What the pattern would find if it were plain text.'),
  }),
  annotations: { readOnlyHint: false, destructiveHint: true, idempotentHint: false, openWorldHint: false },
  async handler({ sandbox, dry_run, ...parameters }, { services, caller, signal }) {
    const request = withoutUndefined({ ...parameters, dryRun: dry_run });
    const replaced = await services.files.replace(caller, sandbox, request, signal);
    const { plainCount } = replaced;
    // The agent alone knows the folder that paths of results are relative to: a user may have another home.
    const given = parameters.files.map((file) => posix.join('/', file));
    const isNamed = (path: string) => given.some((file) => file.endsWith(posix.join('/', path)));
    const listed = replaced.results.filter(
      ({ path, status, replacements }) => status === 'error' || replacements > 0 || isNamed(path),
    );
    return {
      results: listed.map((result) => ({ ...result })),
      files_modified: dry_run ? 0 : replaced.filesModified,
      files_unchanged: replaced.results.length - listed.length,
      total_replacements: listed.reduce((sum, { replacements }) => sum + replacements, 0),
      literal: replaced.literal,
      ...(dry_run ? { dry_run } : {}),
      ...(plainCount === undefined ? {} : { note: plainTextNote(counted(plainCount, 'time')) }),
    };
  },
  text: replaceText,
});

interface ReplaceResult {
  results: { path: string; status: 'success' | 'error'; replacements: number; error?: string | undefined }[];
  files_unchanged: number;
  total_replacements: number;
  dry_run?: boolean | undefined;
  literal: boolean;
  note?: string | undefined;
}

/** Text of ReplaceInFiles: the sums, then a line for each file with a match or an error. */
export function replaceText(result: ReplaceResult): string {
  const { results, files_unchanged, total_replacements, dry_run, literal, note } = result;
  const failed = results.filter(({ status }) => status === 'error');
  const edited = results.filter(({ replacements }) => replacements > 0);
  const unmatched = files_unchanged + results.length - failed.length - edited.length;
  const done = dry_run ? 'Dry run, nothing is changed: ' : '';
  const sums = [
    `${counted(total_replacements, 'replacement')} in ${counted(edited.length, 'file')}`,
    `${counted(unmatched, 'file')} without a match`,
    ...(failed.length > 0 ? [counted(failed.length, 'error')] : []),
    ...(literal ? ['the pattern was plain text (literal)'] : []),
  ];
  return [
    `${done}${sums.join('; ')}.${note === undefined ? '' : ` ${note}`}`,
    ...failed.map(({ path, error }) => `error ${path}: ${error}`),
    ...edited.map(({ path, replacements }) => `${replacements} ${path}`),
  ].join('\n');
}
