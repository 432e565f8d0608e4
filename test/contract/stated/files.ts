/** Of docs/contract.md, "Files". */
import { optional, required, tool } from '../notation.ts';

/** The default of a `path` is the sandbox root. */
const fromRoot = optional.stringWith({ default: '.' });

const pageOfFiles = {
  max_items: optional.integer({ min: 1, max: 200, default: 50 }),
  offset: optional.integer({ default: 0 }),
};

export const files = [
  tool('Sandbox.ListFiles', {
    path: fromRoot,
    sandbox: optional.string,
    pattern: optional.string,
    ...pageOfFiles,
  }),
  tool('Sandbox.FindFiles', {
    pattern: required.string,
    path: fromRoot,
    sandbox: optional.string,
    ...pageOfFiles,
  }),
  tool('Sandbox.GetFileInfo', { path: required.string, sandbox: optional.string }),
  tool('Sandbox.ReadFile', {
    path: required.string,
    sandbox: optional.string,
    start_line: optional.integer({ min: 1 }),
    end_line: optional.integer({ min: 1 }),
  }),
  tool('Sandbox.WriteFile', {
    path: required.string,
    content: required.string,
    sandbox: optional.string,
    create_parents: optional.boolean({ default: true }),
    // Content for both is valid base64.
    encoding: optional.oneOf(['utf-8', 'base64'], { default: 'utf-8', beside: { content: 'QQ==' } }),
  }),
  tool('Sandbox.CreateFolder', {
    path: required.string,
    sandbox: optional.string,
    // 3 or 4 octal digits.
    mode: optional.stringWith({
      default: '755',
      pattern: '^[0-7]{3,4}$',
      takes: ['000', '755', '0755', '7777'],
      refuses: ['', '75', '07555', '778', 'rwx', '0o755', ' 755', '-755', '755\n'],
    }),
  }),
  tool('Sandbox.MoveFile', {
    source: required.string,
    destination: required.string,
    sandbox: optional.string,
  }),
  tool('Sandbox.DeleteFile', {
    path: required.string,
    sandbox: optional.string,
    recursive: optional.boolean({ default: false }),
  }),
  tool('Sandbox.SearchContent', {
    query: required.string,
    path: fromRoot,
    sandbox: optional.string,
    file_pattern: optional.string,
    context_lines: optional.integer({ min: 0, max: 5, default: 0 }),
    ...pageOfFiles,
  }),
  tool('Sandbox.ReplaceInFiles', {
    pattern: required.string,
    replacement: required.string,
    files: required.strings,
    sandbox: optional.string,
  }),
];
