/** Folders and files as Daytona's clients list them, and the folders that a sandbox starts in. */
import { posix } from 'node:path';
import { z } from 'zod';
import { withoutUndefined } from '../../../../catalog/base/tool.ts';
import { octal, permissions } from '../../../../catalog/files/listing.ts';
import { sandbox } from '../../../../catalog/parameters/sandbox.ts';
import { fileMode, path, SANDBOX_ROOT } from '../../../../catalog/parameters/scalars.ts';
import { validateInput } from '../../../../catalog/validate.ts';
import type { FileInfo } from '../../../../control/ports/index.ts';
import { SandhavenError } from '../../../../model/errors.ts';
import { limits } from '../../../../model/limits.ts';
import { sendJson } from '../../../http/routes/send.ts';
import { audited, type DaytonaCall, type DaytonaRoute } from '../../base/call.ts';

export const entryRoutes: readonly DaytonaRoute[] = [
  { method: 'GET', path: '/user-home-dir', handler: (call) => folderBy(call, 'cd && pwd') },
  { method: 'GET', path: '/work-dir', handler: (call) => folderBy(call, 'pwd') },
  {
    method: 'GET',
    path: '/files/info',
    async handler({ tool, params, query }) {
      const info = await tool('Sandbox.GetFileInfo', { ...params, path: query['path'] });
      const { type, size, mode, owner, group, modified_time } = info as unknown as ShownFile;
      return entryOf(String(info['path']), {
        ...{ type, size, owner, group, mode: Number.parseInt(mode, 8) },
        modifiedMs: Date.parse(modified_time),
      });
    },
  },
];

/** Of Sandbox.GetFileInfo, as far as it is read. */
interface ShownFile extends Pick<FileInfo, 'type' | 'size' | 'owner' | 'group'> {
  mode: string;
  modified_time: string;
}

const listing = z.object({
  sandbox,
  path: path().default(SANDBOX_ROOT),
  depth: z.coerce.number().int().min(1).max(limits.fileDetails.depth.max).default(1),
});

/** Their clients know no pages, so a list is whole or refused. */
export async function listEntries(call: DaytonaCall): Promise<unknown> {
  const { request, reply, services, signal } = call;
  const { path, depth } = call.query;
  const asked = validateInput(listing, { ...call.params, path: path || undefined, depth });
  const { max } = limits.fileDetails.maxItems;
  const entries: object[] = [];
  for (let offset: number | null = 0; offset !== null; ) {
    const query = { path: asked.path, depth: asked.depth, maxItems: max, offset };
    const page = await services.files.details(request.caller, asked.sandbox, query, signal);
    if (page.totalCount > max) throw tooMany(page.totalCount);
    entries.push(...page.items.map((item) => entryOf(posix.join(asked.path, item.path), item)));
    offset = page.nextOffset;
  }
  return sendJson(reply, entries, signal);
}

function tooMany(entries: number): SandhavenError {
  return new SandhavenError('too_large', `There are ${entries} entries, more than one list can hold.`, {
    parameter: 'path',
    hint: 'List the folders below one by one, or run find.',
  });
}

/** No service names these folders, so a shell does. */
async function folderBy({ tool, params }: DaytonaCall, command: string): Promise<{ dir: string }> {
  const { stdout } = await tool('Sandbox.RunCommand', { ...params, command });
  return { dir: String(stdout).replace(/\n$/, '') };
}

/** `mode` and `modTime` are in the forms that Go prints. */
function entryOf(
  path: string,
  { type, size, mode, owner, group, modifiedMs }: Omit<FileInfo, 'path'>,
): object {
  const letters: Partial<Record<string, string>> = { dir: 'd', symlink: 'L', file: '-' };
  const modifiedAt = new Date(modifiedMs).toISOString();
  return {
    ...{ name: posix.basename(path), path, isDir: type === 'dir', size, owner, group, modifiedAt },
    mode: `${letters[type] ?? '?'}${permissions(mode)}`,
    permissions: octal(mode),
    modTime: modifiedAt.replace('T', ' ').replace('Z', ' +0000 UTC'),
  };
}

// Changes of files: folders, deletion, moving, replacing, permissions.

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
