/** Text from the clipboard, as it may go to a program. */

/** More is a file, which goes to the sandbox by its Files tab. */
export const PASTE_CHARS = 1_000_000;
export const tooLong = 'Nothing was pasted: the text is too long. Upload it as a file.';

/** Leaves out control characters: with ESC among them a text could end its own brackets and be typed as commands. */
export function pasteable(text: string): string {
  // biome-ignore lint/suspicious/noControlCharactersInRegex: they are what it is about
  return text.replaceAll(/[\u0000-\u0008\u000b\u000c\u000e-\u001f\u007f-\u009f]/g, '');
}
