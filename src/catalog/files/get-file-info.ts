/** Sandbox.GetFileInfo */
import { z } from 'zod';
import { timestamp } from '../base/sandbox-view.ts';
import { defineTool } from '../base/tool.ts';
import { requiredPath } from '../parameters/path.ts';
import { asUser, optionalSandbox } from '../parameters/sandbox.ts';

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
