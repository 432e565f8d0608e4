/** Scopes in words, for the person who decides about them. */

const words: Record<string, string> = {
  'sandboxes:read': 'See your sandboxes, their files and their output',
  'sandboxes:write': 'Make, change and delete sandboxes, and run anything in them',
  'documents:read': 'Read the document database',
};

export function wordsOf(scope: string): string {
  return words[scope] ?? scope;
}

const LOOPBACK = /^(?:localhost|127\.0\.0\.1|\[::1\])(?::\d+)?$/;

/** Returns the place where the answer goes. */
export function placeOf(redirectHost: string): string {
  return LOOPBACK.test(redirectHost) ? `a program on this computer (${redirectHost})` : redirectHost;
}
