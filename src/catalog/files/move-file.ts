/** Sandbox.MoveFile */
import { z } from 'zod';
import { defineTool } from '../base/tool.ts';
import { requiredPath } from '../parameters/path.ts';
import { asUser, optionalSandbox } from '../parameters/sandbox.ts';

export const moveFile = defineTool({
  name: 'Sandbox.MoveFile',
  title: 'Move or rename a file',
  description:
    'Moves or renames a file or directory and overwrites nothing: already_exists. not_found: the source or ' +
    'the destination folder is missing.',
  input: z.strictObject({
    source: requiredPath('File or directory'),
    destination: requiredPath('New path, with its last name'),
    sandbox: optionalSandbox,
    user: asUser,
  }),
  output: z.looseObject({ source: z.string(), destination: z.string() }),
  annotations: { readOnlyHint: false, destructiveHint: false, idempotentHint: false, openWorldHint: false },
  async handler({ sandbox, user, source, destination }, { services, caller }) {
    await services.files.move(caller, sandbox, { user, source, destination });
    return { source, destination };
  },
  text: ({ source, destination }) => `Moved ${source} to ${destination}.`,
});
