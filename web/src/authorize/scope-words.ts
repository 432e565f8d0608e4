/** Scopes in words, for the person who decides about them. An application may act for the person's teams, too. */

const words: Record<string, string> = {
  'sandboxes:read': 'See your sandboxes and those of your teams, their files and their output',
  'sandboxes:write':
    'Make, change and delete sandboxes, yours and those of your teams, and run anything in them',
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
