/**
 * Text as PostgreSQL stores it. It has no NUL character, which a program's last words may hold: a private character
 * stands for it, and for itself. Texts stay different that were different.
 */

const MARK = '\u{F0000}';
const escaped: Record<string, string> = { '\0': `${MARK}0`, [MARK]: `${MARK}1` };
const plain: Record<string, string> = { [`${MARK}0`]: '\0', [`${MARK}1`]: MARK };

export function toStored(text: string): string {
  return text.includes('\0') || text.includes(MARK)
    ? text.replaceAll(/\0|\u{F0000}/gu, (character) => escaped[character] ?? character)
    : text;
}

export function fromStored(text: string): string {
  return text.includes(MARK)
    ? text.replaceAll(/\u{F0000}[01]/gu, (character) => plain[character] ?? character)
    : text;
}
