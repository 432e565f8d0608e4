/** Makes outside text safe to show: one line of bounded length, without the connection string or any secret in it. */
import { limits } from '../../model/limits.ts';

/** Shorter ones look like ordinary words. */
const MIN_SECRET_CHARS = 4;
const MAX_STACK_CHARS = 4_000;

const connectionStrings = /mongodb(?:\+srv)?:\/\/\S*/gi;

export type Scrub = (text: string) => string;

export function createScrub(connectionString: string): Scrub {
  const secrets = secretsOf(connectionString);
  return (text) => {
    const plain = hide(text, secrets).replaceAll(/[\p{Cc}\p{Zl}\p{Zp}]+/gu, ' ');
    const { serverMessageChars } = limits.documents;
    return plain.length > serverMessageChars ? `${plain.slice(0, serverMessageChars)}…` : plain;
  };
}

/** Keeps the code of the driver or the server. */
export class ScrubbedError extends Error {
  readonly code: unknown;

  constructor({ name, message, stack }: { name: string; message: string; stack: string }, code: unknown) {
    super(message);
    this.name = name;
    this.stack = stack;
    this.code = code;
  }
}

/**
 * Reduces a driver's error for the log to its name, code, message and stack. The error itself holds descriptions of
 * connections and their secrets.
 */
export function scrubbedError(error: unknown, connectionString: string): Error {
  if (!(error instanceof Error)) return new Error('The driver threw something other than an error.');
  const secrets = secretsOf(connectionString);
  const shown = (text: string) => hide(text.slice(0, MAX_STACK_CHARS), secrets);
  const { name, message, stack = '' } = error;
  const code: unknown = 'code' in error ? error.code : undefined;
  return new ScrubbedError(
    { name, message: shown(message), stack: shown(stack) },
    typeof code === 'number' || typeof code === 'string' ? code : undefined,
  );
}

function hide(text: string, secrets: readonly string[]): string {
  let hidden = text.replaceAll(connectionStrings, 'mongodb://…');
  for (const secret of secrets) hidden = hidden.replaceAll(secret, '…');
  return hidden;
}

/**
 * Returns the whole string and its credentials, as written and decoded; longest first. A password may hold an
 * unencoded @, so that each @ may be its end.
 */
function secretsOf(connectionString: string): string[] {
  const begin = connectionString.indexOf('://') + '://'.length;
  const ends = [...connectionString.matchAll(/@/g)].map(({ index }) => index);
  const credentials = ends.map((end) => connectionString.slice(begin, end));
  const passwords = credentials.map((text) => text.slice(text.indexOf(':') + 1));
  const tokens = [...connectionString.matchAll(/(?:token|secret|password)[^=&?]*[:=]([^,&]+)/gi)].map(
    (match) => match[1] ?? '',
  );
  const written = [connectionString, ...credentials, ...passwords, ...tokens];
  return [...new Set([...written, ...written.map(decoded)])]
    .filter((secret) => secret.length >= MIN_SECRET_CHARS)
    .toSorted((a, b) => b.length - a.length);
}

function decoded(text: string): string {
  try {
    return decodeURIComponent(text);
  } catch {
    return text;
  }
}
