/** Changes of files: folders, deletion, moving, replacing, permissions. */
import { z } from 'zod';
import { withoutUndefined } from '../../../../catalog/base/tool.ts';
import { fileMode, path } from '../../../../catalog/parameters/path.ts';
import { sandbox } from '../../../../catalog/parameters/sandbox.ts';
import { validateInput } from '../../../../catalog/validate.ts';
import { audited, type DaytonaCall, type DaytonaRoute } from '../../base/call.ts';

export const changeRoutes: readonly DaytonaRoute[] = [
  {
    method: 'POST',
    path: '/files/folder',
    status: 201,
    async handler({ tool, params, query }) {
      await tool('Sandbox.CreateFolder', {
        ...params,
        path: query['path'],
        mode: query['mode'] || undefined,
      });
    },
  },
  {
    method: 'DELETE',
    path: '/files',
    status: 204,
    async handler({ tool, params, query }) {
      const recursive = query['recursive'] === 'true';
      await tool('Sandbox.DeleteFile', { ...params, path: query['path'], recursive });
    },
  },
  {
    method: 'POST',
    path: '/files/move',
    async handler({ tool, params, query: { source, destination } }) {
      await tool('Sandbox.MoveFile', { ...params, source, destination });
    },
  },
  { method: 'POST', path: '/files/replace', handler: replace },
  { method: 'POST', path: '/files/permissions', handler: setPermissions },
];

/** Returns a row for each file that was asked for. Their patterns and new values are plain text. */
async function replace({ tool, params, body }: DaytonaCall): Promise<unknown> {
  const { files, pattern, newValue } = body;
  const replacement = typeof newValue === 'string' ? newValue.replaceAll(/[\\&]/g, '\\$&') : newValue;
  const { results } = await tool('Sandbox.ReplaceInFiles', {
    ...params,
    ...{ files, pattern, replacement, literal: true },
  });
  return (results as { path: string; status: string; error?: string }[]).map(({ path, status, error }) => ({
    file: path,
    success: status === 'success',
    ...withoutUndefined({ error }),
  }));
}

const attributes = z.object({
  sandbox,
  path: path(),
  owner: z.string().min(1).optional(),
  group: z.string().min(1).optional(),
  mode: fileMode().optional(),
});

async function setPermissions(call: DaytonaCall): Promise<void> {
  const { sandbox, mode, ...asked } = validateInput(attributes, { ...call.query, ...call.params });
  await audited(call, { action: 'files.attributes', scope: 'sandboxes:write' }, () =>
    call.services.files.setAttributes(call.request.caller, sandbox, {
      ...asked,
      mode: mode === undefined ? undefined : Number.parseInt(mode, 8),
    }),
  );
}
