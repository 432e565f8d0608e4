/** Sandbox.ReadFile */
import { isUtf8 } from 'node:buffer';
import { z } from 'zod';
import { limits } from '../../model/limits.ts';
import { defineTool, withoutUndefined } from '../base/tool.ts';
import { asUser, optionalSandbox } from '../parameters/sandbox.ts';
import { optionalInteger, requiredPath } from '../parameters/scalars.ts';

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
      user: asUser,
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
    const { path, user, start_line: startLine, end_line: endLine } = parameters;
    const query = { path, user, ...withoutUndefined({ startLine, endLine }) };
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

/** A file's content as text, below one line that describes it. */
interface ReadResult {
  path: string;
  content: string;
  encoding: 'utf-8' | 'base64';
  size: number;
  total_lines: number;
  start_line: number;
  end_line: number;
}

/** Room for the added lines. */
const RESERVE_CHARS = 512;

export function readText(result: ReadResult): string {
  const { path, content, encoding, size, total_lines, start_line, end_line } = result;
  const lines = content === '' ? 'no lines' : `lines ${start_line}-${end_line}`;
  const isOpen =
    encoding === 'utf-8' && end_line === total_lines && content !== '' && !content.endsWith('\n');
  const end = isOpen ? ', no newline at its end' : '';
  const head = `[${path}: ${lines} of ${total_lines}, ${size} bytes, ${encoding}${end}]`;
  return `${head}\n${shown(result, limits.mcpTextChars - RESERVE_CHARS - path.length)}`;
}

/**
 * Returns whole lines, and the line to continue from; a single line that is too long is shortened like any other text.
 */
function shown({ content, encoding, start_line }: ReadResult, room: number): string {
  if (content.length <= room || encoding === 'base64') return content;
  const end = content.lastIndexOf('\n', room - 1);
  if (end <= 0) return content;
  const kept = content.slice(0, end + 1);
  const next = start_line + kept.split('\n').length - 1;
  return `${kept}[the text ends here; start_line ${next} goes on]`;
}
