/** Sandbox.ReadFile */
import { isUtf8 } from 'node:buffer';
import { z } from 'zod';
import { limits } from '../../model/limits.ts';
import { optionalInteger } from '../parameters/integer.ts';
import { requiredPath } from '../parameters/path.ts';
import { optionalSandbox } from '../parameters/sandbox.ts';
import { present } from '../present.ts';
import { defineTool } from '../tool.ts';
import { readText } from './read-text.ts';

const line = { min: 1, max: limits.listPosition };

export const readFile = defineTool({
  name: 'Sandbox.ReadFile',
  title: 'Read a file',
  description:
    'Reads a file or a range of its lines. Returns content, size and total_lines; what is not UTF-8 comes as base64 ' +
    '(encoding says so). too_large (over 16 MiB): read it in ranges.',
  input: z
    .strictObject({
      path: requiredPath('File'),
      sandbox: optionalSandbox,
      start_line: optionalInteger('First line', line),
      end_line: optionalInteger('Last line, included', line),
    })
    .check(({ value, issues }) => {
      const { start_line, end_line } = value;
      if (end_line === undefined || end_line >= (start_line ?? 1)) return;
      const message = `must not be before start_line; ${end_line} and ${start_line} were given`;
      issues.push({ code: 'custom', path: ['end_line'], input: value, message });
    }),
  output: z.looseObject({
    path: z.string(),
    content: z.string(),
    encoding: z.enum(['utf-8', 'base64']),
    size: z.int(),
    total_lines: z.int(),
    start_line: z.int(),
    end_line: z.int(),
  }),
  annotations: { readOnlyHint: true, destructiveHint: false, idempotentHint: true, openWorldHint: false },
  async handler(parameters, { services, caller, signal }) {
    const { path, start_line: startLine, end_line: endLine } = parameters;
    const query = { path, ...present({ startLine, endLine }) };
    const slice = await services.files.read(caller, parameters.sandbox, query, signal);
    const encoding: 'utf-8' | 'base64' = isUtf8(slice.content) ? 'utf-8' : 'base64';
    return {
      path,
      content: slice.content.toString(encoding),
      encoding,
      size: slice.size,
      total_lines: slice.totalLines,
      start_line: slice.startLine,
      end_line: slice.endLine,
    };
  },
  printed: (result) => (result.encoding === 'utf-8' ? result.content : readText(result)),
  text: readText,
});
