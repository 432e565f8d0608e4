/** Takes texts out of a notebook, whose fields may be of any type. */

export interface Excerpt {
  text: string;
  /** True when the notebook has more of it. */
  cut: boolean;
}

/** Room that the cells of a notebook share; each takes its part as it is read. */
export interface Room {
  outputs: number;
  markdownCharacters: number;
}

export const MOST_TEXT_CHARACTERS = 100_000;
/** Most characters of one Markdown text: its parser's time may grow with their square. */
const MOST_MARKDOWN_CHARACTERS = 10_000;

/** @returns undefined for a value that is not an object or lacks an own field of this name. */
export function fieldOf(value: unknown, name: string): unknown {
  if (typeof value !== 'object' || value === null || !Object.hasOwn(value, name)) return undefined;
  return (value as Record<string, unknown>)[name];
}

/** Joins the lines of a text, which are a string or a list of strings. */
export function excerptOf(value: unknown, mostCharacters = MOST_TEXT_CHARACTERS): Excerpt {
  let text = '';
  for (const part of Array.isArray(value) ? value : [value]) {
    if (typeof part === 'string') text += part;
    if (text.length > mostCharacters) return { text: text.slice(0, mostCharacters), cut: true };
  }
  return { text, cut: false };
}

/** Takes room for a Markdown text. Without room the text is shown unformatted. */
export function hasRoomForMarkdown({ text }: Excerpt, room: Room): boolean {
  if (text.length > Math.min(MOST_MARKDOWN_CHARACTERS, room.markdownCharacters)) return false;
  room.markdownCharacters -= text.length;
  return true;
}
