/** Sandbox.GitAdd */
import { z } from 'zod';
import { limits } from '../../model/limits.ts';
import { defineTool } from '../base/tool.ts';
import { path } from '../parameters/path.ts';
import { foundText, optionsOf, repositoryFound, repositoryOf, repositoryParameters } from './parameters.ts';

/** Number of paths in the text. */
const SHOWN = 20;

export const gitAdd = defineTool({
  name: 'Sandbox.GitAdd',
  title: 'Stage files',
  description:
    'Stages files or folders for the next commit, deletions included; ["."] stages everything. Paths ' +
    "are literal and start at the repository's root, as GitStatus names them.",
  input: z.strictObject({
    files: z.array(path()).min(1).max(limits.git.files).describe('Paths to stage.'),
    ...repositoryParameters,
  }),
  output: z.looseObject({
    added: z.array(z.string()),
    added_count: z.int(),
    ...repositoryFound,
    truncated: z.boolean(),
  }),
  annotations: { readOnlyHint: false, destructiveHint: false, idempotentHint: true, openWorldHint: false },
  async handler(parameters, context) {
    const at = repositoryOf(parameters, context);
    const { addedCount, ...rest } = await context.services.git.add(at, parameters.files, optionsOf(context));
    return { ...rest, added_count: addedCount };
  },
  text: ({ added, added_count, truncated, ...found }) => {
    const names = added.slice(0, SHOWN).join(', ');
    const more = added_count > SHOWN ? `, and ${added_count - SHOWN} more` : '';
    const cut = truncated ? ' The list of them is truncated.' : '';
    return `Staged: ${added_count}${names && ` (${names}${more})`}.${cut}${foundText(found)}`;
  },
});
