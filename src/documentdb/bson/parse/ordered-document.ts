/**
 * Keeps a document's keys in their written order. JavaScript puts keys that look like array indexes first, but the
 * order of a sort, or of a document compared as a whole, is part of its meaning.
 */

/** Returns the document itself when JavaScript's order is already right. */
export function inOrder(document: Record<string, unknown>, keys: readonly string[]): Record<string, unknown> {
  if (keys.length < 2 || !keys.some(looksLikeIndex)) return document;
  const actual = Object.keys(document);
  if (actual.every((key, index) => key === keys[index])) return document;
  const ordered = [...keys];
  return new Proxy(document, { ownKeys: () => ordered });
}

/** Treats `__proto__` like any other key. */
export function setKey(document: Record<string, unknown>, key: string, value: unknown): void {
  if (key !== '__proto__') {
    document[key] = value;
    return;
  }
  Object.defineProperty(document, key, { value, writable: true, enumerable: true, configurable: true });
}

/** A false positive only costs a closer look. */
function looksLikeIndex(key: string): boolean {
  const first = key.charCodeAt(0);
  return first >= 0x30 && first <= 0x39;
}
