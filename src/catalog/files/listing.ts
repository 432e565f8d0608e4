/** Tools that find files and folders, and say what they are. */
import { z } from 'zod';
import { timestamp } from '../base/sandbox-view.ts';
import { defineTool, withoutUndefined } from '../base/tool.ts';
import { counted, offsetOf, offsetOutput, offsetParameters, offsetText } from '../parameters/pagination.ts';
import { asUser, optionalSandbox } from '../parameters/sandbox.ts';
import { glob, requiredPath, rootedPath } from '../parameters/scalars.ts';

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

export const getFileInfo = defineTool({
  name: 'Sandbox.GetFileInfo',
  title: 'Get file information',
  description:
    'Shows type (file, dir, symlink, other), size, permissions, owner and modified_time of one path. A ' +
    'link is shown itself, not its target.',
  input: z.strictObject({
    path: requiredPath('File or directory'),
    sandbox: optionalSandbox,
    user: asUser,
  }),
  output: z.looseObject({
    path: z.string(),
    type: z.enum(['file', 'dir', 'symlink', 'other']),
    size: z.int(),
    permissions: z.string(),
    mode: z.string(),
    owner: z.string(),
    group: z.string(),
    modified_time: z.string(),
  }),
  annotations: { readOnlyHint: true, destructiveHint: false, idempotentHint: true, openWorldHint: false },
  async handler({ sandbox, path, user }, { services, caller }) {
    const info = await services.files.info(caller, sandbox, { path, user });
    return {
      path: info.path,
      type: info.type,
      size: info.size,
      permissions: permissions(info.mode),
      mode: octal(info.mode),
      owner: info.owner,
      group: info.group,
      modified_time: timestamp(info.modifiedMs),
    };
  },
  text: (info) =>
    `${info.path}: ${info.type}, ${info.size} bytes, ${info.permissions} (${info.mode}), ` +
    `owner ${info.owner}, group ${info.group}, modified ${info.modified_time}`,
});

/** Returns four octal digits: 0755. */
export function octal(mode: number): string {
  return (mode & 0o7777).toString(8).padStart(4, '0');
}

/** Returns permissions like `ls -l`, without the type: rwxr-xr-x, with s and t for the three special bits. */
export function permissions(mode: number): string {
  const special = [
    [0o4000, 's'],
    [0o2000, 's'],
    [0o1000, 't'],
  ] as const;
  return special
    .map(([bit, letter], index) => {
      const triple = (mode >> (6 - 3 * index)) & 7;
      const read = triple & 4 ? 'r' : '-';
      const write = triple & 2 ? 'w' : '-';
      const execute = triple & 1 ? 'x' : '-';
      if (!(mode & bit)) return read + write + execute;
      return read + write + (triple & 1 ? letter : letter.toUpperCase());
    })
    .join('');
}
