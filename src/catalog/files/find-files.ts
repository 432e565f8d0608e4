/** Sandbox.FindFiles */
import { z } from 'zod';
import { defineTool } from '../base/tool.ts';
import { counted, offsetOf, offsetOutput, offsetParameters, offsetText } from '../parameters/pagination.ts';
import { glob, rootedPath } from '../parameters/path.ts';
import { asUser, optionalSandbox } from '../parameters/sandbox.ts';

export const findFiles = defineTool({
  name: 'Sandbox.FindFiles',
  title: 'Find files by name',
  description:
    'Finds files and directories by name below a directory, hidden ones included, links not followed. ' +
    'To search contents, use SearchContent.',
  input: z.strictObject({
    pattern: glob().describe('Glob on the file name, not the path, such as *.test.ts.'),
    path: rootedPath('Directory to search'),
    sandbox: optionalSandbox,
    user: asUser,
    ...offsetParameters,
  }),
  output: z.looseObject({ paths: z.array(z.string()), ...offsetOutput }),
  annotations: { readOnlyHint: true, destructiveHint: false, idempotentHint: true, openWorldHint: false },
  async handler(parameters, { services, caller, signal }) {
    const { path, user, pattern, max_items, offset } = parameters;
    const query = { path, user, pattern, maxItems: max_items, offset };
    const found = await services.files.find(caller, parameters.sandbox, query, signal);
    return { paths: found.items, ...offsetOf(found.totalCount, found.items.length, offset) };
  },
  text: (result) => offsetText(`${counted(result.total_count, 'path')} found`, result, result.paths),
});
