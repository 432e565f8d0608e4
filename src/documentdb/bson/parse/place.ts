/** Names a place in a caller's text: the parameter, the position in the text, or the path of the value. */
import { limits } from '../../../model/limits.ts';

/** Returns the parameter of a text: `pipeline` for `pipeline[2]`. */
export function parameterOf(text: string): string {
  return text.replace(/\[.*$/s, '');
}

/** `line 2, column 7`. */
export function placeInText(text: string, at: number): string {
  const before = text.slice(0, at);
  const lineStart = before.lastIndexOf('\n') + 1;
  return `line ${before.split('\n').length}, column ${at - lineStart + 1}`;
}

/** Returns the surroundings of the place, marked by `>>>`, on one line. */
export function excerpt(text: string, at: number): string {
  const from = Math.max(0, at - limits.documents.excerptChars);
  const to = Math.min(text.length, at + limits.documents.excerptChars);
  const shown = `${from > 0 ? '…' : ''}${text.slice(from, at)}>>>${text.slice(at, to)}${to < text.length ? '…' : ''}`;
  return shown.replace(/[\p{Cc}\u2028\u2029]+/gu, ' ').toWellFormed();
}

/** Returns `filter_dict.customer.orders[2]`; of a long path its beginning and its end. */
export function placeOf(name: string, path: readonly (string | number)[]): string {
  const parts = path.map((part) => (typeof part === 'number' ? `[${part}]` : `.${shorten(part)}`));
  const shown = limits.documents.placeParts;
  if (parts.length <= shown) return name + parts.join('');
  return `${name}${parts.slice(0, shown / 2).join('')}…${parts.slice(-shown / 2).join('')}`;
}

/** Shortens a caller's text to one line. */
export function shorten(text: string): string {
  const most = 2 * limits.documents.excerptChars;
  const shown = text.replace(/\p{Cc}/gu, '�').toWellFormed();
  return shown.length <= most ? shown : `${shown.slice(0, most).toWellFormed()}…`;
}

/** Shared error text of parser and guard for one value too many. */
export const tooManyValues = {
  problem: `is more than ${limits.documents.queryNodes} values into the query`,
  hint: 'Ask for less at once, for instance with a shorter $in.',
};
