/** Keys of the page inside the terminal, and the bytes of keys that a touch screen lacks. */

export type PageKey = 'leave' | 'copy' | 'paste' | 'program';

/** The way out of the terminal by keyboard: there Tab is the program's. */
export const LEAVE_KEYS = 'Ctrl+Shift+O';

export function pageKeyOf(event: KeyboardEvent, hasSelection: boolean): PageKey {
  const { ctrlKey, shiftKey, altKey, metaKey } = event;
  const key = event.key.toLowerCase();
  if (!ctrlKey || altKey || metaKey) return 'program';
  if (shiftKey && key === 'o') return 'leave';
  if (shiftKey && key === 'v') return 'paste';
  if (key === 'c' && (shiftKey || hasSelection)) return 'copy';
  return key === 'insert' && hasSelection ? 'copy' : 'program';
}

export type ArrowName = 'up' | 'down' | 'right' | 'left';

const finals: Record<ArrowName, string> = { up: 'A', down: 'B', right: 'C', left: 'D' };

/** Programs on the whole screen ask for arrows of another kind. */
export function arrow(name: ArrowName, application: boolean): string {
  return `\x1b${application ? 'O' : '['}${finals[name]}`;
}

/** Returns the key with Ctrl held; the key itself where no such character exists. */
export function withCtrl(keys: string): string {
  if (!/^[@-_a-z ?]$/.test(keys)) return keys;
  if (keys === '?') return '\x7f';
  return String.fromCharCode(keys.toUpperCase().charCodeAt(0) & 0x1f);
}
