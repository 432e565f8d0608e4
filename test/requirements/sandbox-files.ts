/** Sandbox toolkit: files. */
import type { Rules } from './requirement.ts';

export const sandboxFiles: Rules = {
  'SBX-FILES-01': 'ListFiles gives name, type (file or dir) and size of each entry.',
  'SBX-FILES-02': 'ListFiles gives the total count and has_more.',
  'SBX-FILES-03': 'ListFiles: path defaults to the sandbox root.',
  'SBX-FILES-04': 'ListFiles: the glob `pattern` keeps only names that match it.',
  'SBX-FILES-05': 'ListFiles: max_items is 1 to 200 and defaults to 50.',
  'SBX-FILES-06': 'ListFiles: offset defaults to 0 and skips that many entries.',
  'SBX-FILES-07': 'FindFiles requires the glob `pattern` and matches it against file names, below path.',
  'SBX-FILES-08': 'FindFiles: path defaults to the sandbox root.',
  'SBX-FILES-09': 'FindFiles gives matching paths, the total count and has_more.',
  'SBX-FILES-10': 'FindFiles: max_items is 1 to 200 and defaults to 50; offset defaults to 0.',
  'SBX-FILES-11': 'GetFileInfo requires path and gives size, permissions, modified time and type.',
  'SBX-FILES-12': 'ReadFile requires path, relative to the sandbox root.',
  'SBX-FILES-13': 'ReadFile without start_line and end_line gives the whole file.',
  'SBX-FILES-14': 'ReadFile: start_line counts from 1; 0 is refused.',
  'SBX-FILES-15': 'ReadFile: end_line counts from 1 and is included.',
  'SBX-FILES-16': 'ReadFile gives the contents with information on the lines.',
  'SBX-FILES-17': 'WriteFile requires path and content, creates the file and confirms.',
  'SBX-FILES-18': 'WriteFile: create_parents defaults to true and makes missing parent folders.',
  'SBX-FILES-19': 'WriteFile with create_parents false fails where the parent folder is missing.',
  'SBX-FILES-20': 'CreateFolder requires path, creates parents too, and confirms.',
  'SBX-FILES-21': 'CreateFolder: mode is a string of Unix permissions and defaults to 755.',
  'SBX-FILES-22': 'MoveFile requires source and destination, moves and renames, and confirms.',
  'SBX-FILES-23': 'DeleteFile deletes a file or an empty directory and confirms.',
  'SBX-FILES-24': 'DeleteFile on a non-empty directory needs recursive true; recursive defaults to false.',
  'SBX-FILES-25': 'In all file tools `sandbox` is optional.',
  'SBX-FILES-26': 'ReadFile applies the line range to the whole file: size and counts are of the whole file.',

  'SBX-SEARCH-01': 'SearchContent requires query, text or a regular expression in grep syntax.',
  'SBX-SEARCH-02': 'path defaults to the sandbox root.',
  'SBX-SEARCH-03': 'file_pattern, a glob, keeps only files whose name matches.',
  'SBX-SEARCH-04':
    'context_lines is 0 to 5 and defaults to 0; that many lines come before and after a match.',
  'SBX-SEARCH-05': 'max_items, 1 to 200, default 50, bounds the number of matching files.',
  'SBX-SEARCH-06': 'offset defaults to 0 and skips that many matching files.',
  'SBX-SEARCH-07': 'The result names the matching files with line numbers.',
  'SBX-SEARCH-08': 'At most 50 matches of a file are given.',

  'SBX-REPLACE-01': 'ReplaceInFiles requires pattern (text or regular expression), replacement and files.',
  'SBX-REPLACE-02':
    'files is an array of paths and globs; globs are expanded to paths before anything is replaced.',
  'SBX-REPLACE-03':
    'The result says success or error for each file; one failing file does not fail the others.',
  'SBX-REPLACE-04': 'The result gives the number of files modified.',
};
