/** Sandbox.WriteFile */
import { z } from 'zod';
import { defineTool, withoutUndefined } from '../base/tool.ts';
import { requiredPath } from '../parameters/path.ts';
import { asUser, optionalSandbox } from '../parameters/sandbox.ts';
import { bytesOf, encoding, text } from '../parameters/scalars.ts';

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
