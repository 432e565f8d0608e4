/** Sandbox.ReplaceInFiles */
import { z } from 'zod';
import { limits } from '../../model/limits.ts';
import { path } from '../parameters/path.ts';
import { optionalSandbox } from '../parameters/sandbox.ts';
import { text, textWithoutNul } from '../parameters/text.ts';
import { defineTool } from '../tool.ts';

export const replaceInFiles = defineTool({
  name: 'Sandbox.ReplaceInFiles',
  title: 'Find and replace in files',
  description:
    'Replaces every match in each file, line by line as sed -E s/…/…/g, each file atomically. Returns ' +
    'a result per file (status, replacements, error); a failed file leaves the others edited. literal: ' +
    'pattern was no valid expression, so plain text.',
  input: z.strictObject({
    pattern: textWithoutNul()
      .min(1)
      .max(limits.search.queryChars)
      .describe('Text or extended regular expression, matched within a line.'),
    replacement: text()
      .max(limits.search.replacementChars)
      .describe('New text; \\1-\\9 and & are what matched, \\& a plain &, \\n a newline.'),
    files: z
      .array(path())
      .min(1)
      .max(limits.search.entries)
      .describe('Paths or globs, relative to /workspace or absolute; src/**/*.ts goes deep.'),
    sandbox: optionalSandbox,
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
    files_modified: z.int(),
    literal: z.boolean(),
  }),
  annotations: { readOnlyHint: false, destructiveHint: true, idempotentHint: false, openWorldHint: false },
  async handler({ pattern, replacement, files, sandbox }, { services, caller, signal }) {
    const request = { pattern, replacement, files };
    const replaced = await services.files.replace(caller, sandbox, request, signal);
    return {
      results: replaced.results.map((result) => ({ ...result })),
      files_modified: replaced.filesModified,
      literal: replaced.literal,
    };
  },
});
