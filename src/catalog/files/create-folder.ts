/** Sandbox.CreateFolder */
import { z } from 'zod';
import { defineTool } from '../base/tool.ts';
import { fileMode, requiredPath } from '../parameters/path.ts';
import { asUser, optionalSandbox } from '../parameters/sandbox.ts';
import { octal } from './get-file-info.ts';

export const createFolder = defineTool({
  name: 'Sandbox.CreateFolder',
  title: 'Create a folder',
  description:
    'Creates a directory and its missing parents. One that exists stays (created: false). ' +
    'already_exists: another kind of file is there.',
  input: z.strictObject({
    path: requiredPath('Directory'),
    sandbox: optionalSandbox,
    user: asUser,
    mode: fileMode().default('755').describe("Unix permissions, 3 or 4 octal digits (default '755')."),
  }),
  output: z.looseObject({ path: z.string(), created: z.boolean(), mode: z.string() }),
  annotations: { readOnlyHint: false, destructiveHint: false, idempotentHint: true, openWorldHint: false },
  async handler(parameters, { services, caller }) {
    const { path, sandbox, user } = parameters;
    const mode = Number.parseInt(parameters.mode, 8);
    const { created } = await services.files.createFolder(caller, sandbox, { path, user, mode });
    if (created) return { path, created, mode: octal(mode) };
    const existing = await services.files.info(caller, sandbox, { path, user });
    return { path, created, mode: octal(existing.mode) };
  },
  text: ({ path, created, mode }) =>
    created ? `Created ${path}, mode ${mode}.` : `${path} was there already (created: false), mode ${mode}.`,
});
