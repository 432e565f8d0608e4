/** Text of SearchContent, in grep's form: a file's path, then `12: a line`, and `11- one around it`. */
import { counted, offsetText, type PageOf } from './offset-text.ts';

export interface SearchMatch {
  line: number;
  text: string;
  before?: string[] | undefined;
  after?: string[] | undefined;
}

interface SearchFile {
  path: string;
  matches?: SearchMatch[] | undefined;
  match_count?: number | undefined;
  capped?: boolean | undefined;
}

interface SearchResult extends PageOf {
  files: SearchFile[];
  literal: boolean;
  note?: string | undefined;
}

export function searchText(result: SearchResult): string {
  const verb = result.total_count === 1 ? 'matches' : 'match';
  const how = result.literal ? ' as plain text' : '';
  const what = `${counted(result.total_count, 'file')} ${verb}${how}`;
  const found = offsetText(what, result, result.files.map(fileText));
  return result.note === undefined ? found : `${found} ${result.note}`;
}

function fileText({ path, matches = [], match_count, capped }: SearchFile): string {
  const count =
    match_count === undefined ? '' : ` (${counted(match_count, 'line')}${capped ? ', and more' : ''})`;
  return [`${path}${count}`, ...matches.flatMap(linesOf)].join('\n');
}

function linesOf({ line, text, before = [], after = [] }: SearchMatch): string[] {
  return [
    ...before.map((around, index) => `${line - before.length + index}- ${around}`),
    `${line}: ${text}`,
    ...after.map((around, index) => `${line + 1 + index}- ${around}`),
  ];
}
