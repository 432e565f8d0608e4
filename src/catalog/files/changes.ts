/** Tools that change files and folders as a whole. */
import { z } from 'zod';
import { defineTool, withoutUndefined } from '../base/tool.ts';
import { asUser, optionalSandbox } from '../parameters/sandbox.ts';
import { bytesOf, encoding, fileMode, requiredPath, text } from '../parameters/scalars.ts';
import { octal } from './listing.ts';

export const writeFile = defineTool({
  name: 'Sandbox.WriteFile',
  title: 'Write a file',
  description:
    'Creates a file or replaces it atomically, keeping its mode. To change a part, ReplaceInFiles is ' +
    'shorter. Over 16 MiB: PUT /v1/sandboxes/{sandbox}/files.',
  input: z.strictObject({
    path: requiredPath('File'),
    content: text().meta({ description: 'All of the new content.', sensitive: true }),
    sandbox: optionalSandbox,
    user: asUser,
    create_parents: z.boolean().default(true).describe('Make missing parent folders (default true).'),
    encoding: encoding().describe('Of content; base64 for binary (default utf-8).'),
    durable: z.boolean().optional().describe('Safe from a power cut once answered.'),
  }),
  output: z.looseObject({ path: z.string(), bytes_written: z.int(), created: z.boolean() }),
  annotations: { readOnlyHint: false, destructiveHint: true, idempotentHint: true, openWorldHint: false },
  async handler(parameters, { services, caller, signal }) {
    const { path, user, encoding, durable, create_parents: createParents } = parameters;
    const content = bytesOf('content', parameters.content, encoding, 'content: All of the new content.');
    const query = { path, user, content, createParents, ...withoutUndefined({ durable }) };
    const written = await services.files.write(caller, parameters.sandbox, query, signal);
    return { path, bytes_written: written.bytesWritten, created: written.created };
  },
  text: ({ path, bytes_written, created }) =>
    `${created ? 'Created' : 'Replaced'} ${path}: ${bytes_written} bytes.`,
});

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
