/** Names of terminals: those that the service takes, and the next free one. */

export interface TerminalSearch {
  /** Terminal that is shown. */
  terminal?: string;
}

export function readTerminalSearch({ terminal }: Record<string, unknown>): TerminalSearch {
  const name = String(terminal ?? '');
  return nameFault(name) === null ? { terminal: name } : {};
}

/** @returns the fault of a name, or null. */
export function nameFault(name: string): string | null {
  return /^[A-Za-z0-9_-]{1,64}$/.test(name) ? null : 'A name has 1 to 64 letters, digits, _ or -.';
}

export function freeName(taken: string[]): string {
  if (!taken.includes('main')) return 'main';
  let number = 2;
  while (taken.includes(`terminal-${number}`)) number += 1;
  return `terminal-${number}`;
}
