/** Sandbox.DeleteFile */
import { z } from 'zod';
import { defineTool } from '../base/tool.ts';
import { requiredPath } from '../parameters/path.ts';
import { asUser, optionalSandbox } from '../parameters/sandbox.ts';

export const deleteFile = defineTool({
  name: 'Sandbox.DeleteFile',
  title: 'Delete a file',
  description:
    'Deletes a file, a link (never its target) or an empty directory. failed_precondition: the directory ' +
    'is not empty; set recursive to delete all in it.',
  input: z.strictObject({
    path: requiredPath('File or directory'),
    sandbox: optionalSandbox,
    user: asUser,
    recursive: z.boolean().default(false).describe('Delete a directory with all in it (default false).'),
  }),
  output: z.looseObject({ path: z.string(), deleted: z.boolean() }),
  annotations: { readOnlyHint: false, destructiveHint: true, idempotentHint: false, openWorldHint: false },
  async handler({ sandbox, path, user, recursive }, { services, caller, signal }) {
    await services.files.remove(caller, sandbox, { path, user, recursive }, signal);
    return { path, deleted: true };
  },
  text: ({ path }) => `Deleted ${path}.`,
});
