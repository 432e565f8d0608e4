/** The project's own parameters and bounds of file tools. */
import { addition, optional } from '../notation.ts';
import { glob, path, position, reference, user } from './common.ts';

const offset = { min: 0, ...position };

/** An expression within a line. */
const expression = { minChars: 1, maxChars: 4_096 };

export const fileAdditions = [
  addition('Sandbox.ListFiles', { path, sandbox: reference, user, pattern: glob, offset }),
  addition('Sandbox.FindFiles', { pattern: glob, path, sandbox: reference, user, offset }),
  addition('Sandbox.GetFileInfo', { path, sandbox: reference, user }),
  addition('Sandbox.ReadFile', { path, sandbox: reference, user, start_line: position, end_line: position }),
  addition('Sandbox.WriteFile', {
    path,
    sandbox: reference,
    user,
    durable: optional.boolean({}),
  }),
  addition('Sandbox.CreateFolder', { path, sandbox: reference, user }),
  addition('Sandbox.MoveFile', { source: path, destination: path, sandbox: reference, user }),
  addition('Sandbox.DeleteFile', { path, sandbox: reference, user }),
  addition('Sandbox.SearchContent', {
    query: expression,
    path,
    sandbox: reference,
    user,
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
    user,
    literal: optional.boolean({}),
    dry_run: optional.boolean({}),
    exclude: optional.stringsWith({ maxItems: 100, items: glob }),
  }),
];
