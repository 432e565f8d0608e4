/** The project's own parameters and bounds of file tools. */
import { addition, optional } from '../notation.ts';
import { glob, path, position, reference } from './common.ts';

const offset = { min: 0, ...position };

/** An expression within a line. */
const expression = { minChars: 1, maxChars: 4_096 };

export const fileAdditions = [
  addition('Sandbox.ListFiles', { path, sandbox: reference, pattern: glob, offset }),
  addition('Sandbox.FindFiles', { pattern: glob, path, sandbox: reference, offset }),
  addition('Sandbox.GetFileInfo', { path, sandbox: reference }),
  addition('Sandbox.ReadFile', { path, sandbox: reference, start_line: position, end_line: position }),
  addition('Sandbox.WriteFile', {
    path,
    sandbox: reference,
    durable: optional.boolean({}),
  }),
  addition('Sandbox.CreateFolder', { path, sandbox: reference }),
  addition('Sandbox.MoveFile', { source: path, destination: path, sandbox: reference }),
  addition('Sandbox.DeleteFile', { path, sandbox: reference }),
  addition('Sandbox.SearchContent', {
    query: expression,
    path,
    sandbox: reference,
    file_pattern: glob,
    offset,
    literal: optional.boolean({}),
    output: optional.oneOf(['matches', 'files', 'counts'], { default: 'matches' }),
  }),
  addition('Sandbox.ReplaceInFiles', {
    pattern: expression,
    replacement: { maxChars: 65_536 },
    files: { minItems: 1, maxItems: 1_000, items: path },
    sandbox: reference,
    literal: optional.boolean({}),
    dry_run: optional.boolean({}),
    exclude: optional.stringsWith({ maxItems: 100, items: glob }),
  }),
];
