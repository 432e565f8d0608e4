/**
 * Documents whose keys come in the order they were written in. JavaScript puts keys that look like the index of an
 * array first, but the order of a sort, or of a document that is compared as a whole, is part of its meaning.
 */

/** The document itself, where JavaScript's order is the wanted one. */
export function inOrder(document: Record<string, unknown>, keys: readonly string[]): Record<string, unknown> {
  if (keys.length < 2 || !keys.some(looksLikeIndex)) return document;
  const actual = Object.keys(document);
  if (actual.every((key, index) => key === keys[index])) return document;
  const ordered = [...keys];
  return new Proxy(document, { ownKeys: () => ordered });
}

/** `__proto__` is a key like any other. */
export function setKey(document: Record<string, unknown>, key: string, value: unknown): void {
  if (key !== '__proto__') {
    document[key] = value;
    return;
  }
  Object.defineProperty(document, key, { value, writable: true, enumerable: true, configurable: true });
}

/** What else begins with a digit is only looked at more closely. */
function looksLikeIndex(key: string): boolean {
  const first = key.charCodeAt(0);
  return first >= 0x30 && first <= 0x39;
}
