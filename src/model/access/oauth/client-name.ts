/** Names that clients give themselves, for people to read: plain text on one line, in bounds. */
import { limits } from '../../limits.ts';

/** Returns null for a name of which nothing is left. Takes away what is not seen, or turns the text around. */
export function clientNameOf(text: unknown): string | null {
  if (typeof text !== 'string') return null;
  const plain = text
    .toWellFormed()
    .replace(/[\s\p{Z}]+/gu, ' ')
    .replace(/\p{C}/gu, '')
    .trim();
  return Array.from(plain).slice(0, limits.oauth.clientNameChars).join('').trim() || null;
}
