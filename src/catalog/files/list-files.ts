/** Sandbox.ListFiles */
import { z } from 'zod';
import { defineTool, withoutUndefined } from '../base/tool.ts';
import { offsetOf, offsetOutput, offsetParameters, offsetText } from '../parameters/pagination.ts';
import { glob, rootedPath } from '../parameters/path.ts';
import { asUser, optionalSandbox } from '../parameters/sandbox.ts';

export const listFiles = defineTool({
  name: 'Sandbox.ListFiles',
  title: 'List files',
  description:
    'Lists one directory, sorted by name, hidden files included: name, type (file or dir), size, link. ' +
    'To search below, use FindFiles.',
  input: z.strictObject({
    path: rootedPath('Directory'),
    sandbox: optionalSandbox,
    user: asUser,
    pattern: glob().optional().describe('Only names that match this glob, such as *.py.'),
    ...offsetParameters,
  }),
  output: z.looseObject({
    path: z.string(),
    files: z.array(
      z.looseObject({
        name: z.string(),
        type: z.enum(['file', 'dir']),
        size: z.int(),
        link: z.boolean(),
      }),
    ),
    ...offsetOutput,
  }),
  annotations: { readOnlyHint: true, destructiveHint: false, idempotentHint: true, openWorldHint: false },
  async handler(parameters, { services, caller, signal }) {
    const { path, user, pattern, max_items, offset } = parameters;
    const query = { path, user, maxItems: max_items, offset, ...withoutUndefined({ pattern }) };
    const found = await services.files.list(caller, parameters.sandbox, query, signal);
    return {
      path: found.path,
      files: found.items.map(({ name, type, size, link }) => ({ name, type, size, link })),
      ...offsetOf(found.totalCount, found.items.length, offset),
    };
  },
  text: (result) =>
    offsetText(
      `${result.path}: ${result.total_count === 1 ? '1 entry' : `${result.total_count} entries`}`,
      result,
      result.files.map(({ name, type, size, link }) => `${type} ${size} ${name}${link ? ' (a link)' : ''}`),
    ),
});
