/** Text of ReplaceInFiles: the sums, then a line for each file with a match or an error. */
import { counted } from './offset-text.ts';

interface ReplaceResult {
  results: { path: string; status: 'success' | 'error'; replacements: number; error?: string | undefined }[];
  files_unchanged: number;
  total_replacements: number;
  dry_run?: boolean | undefined;
  literal: boolean;
  note?: string | undefined;
}

export function replaceText(result: ReplaceResult): string {
  const { results, files_unchanged, total_replacements, dry_run, literal, note } = result;
  const failed = results.filter(({ status }) => status === 'error');
  const edited = results.filter(({ replacements }) => replacements > 0);
  const unmatched = files_unchanged + results.length - failed.length - edited.length;
  const done = dry_run ? 'Dry run, nothing is changed: ' : '';
  const sums = [
    `${counted(total_replacements, 'replacement')} in ${counted(edited.length, 'file')}`,
    `${counted(unmatched, 'file')} without a match`,
    ...(failed.length > 0 ? [counted(failed.length, 'error')] : []),
    ...(literal ? ['the pattern was plain text (literal)'] : []),
  ];
  return [
    `${done}${sums.join('; ')}.${note === undefined ? '' : ` ${note}`}`,
    ...failed.map(({ path, error }) => `error ${path}: ${error}`),
    ...edited.map(({ path, replacements }) => `${replacements} ${path}`),
  ].join('\n');
}
