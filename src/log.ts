/** The service's log on standard error: one JSON object a line for programs, readable lines for a person at a terminal. */
import { stripVTControlCharacters, styleText } from 'node:util';
import type { Log } from './control/ports/index.ts';

type Level = 'info' | 'warn' | 'error';
type Context = Record<string, unknown>;
type Render = (time: Date, level: Level, message: string, context: Context) => string;

type Out = Pick<NodeJS.WritableStream, 'write'> & { isTTY?: boolean };

export function createLog(out: Out = process.stderr): Log {
  const render = out.isTTY === true ? readable : json;
  const write = (level: Level, message: string, context: Context = {}) =>
    void out.write(`${render(new Date(), level, message, context)}\n`);
  return {
    info: (message, context) => write('info', message, context),
    warn: (message, context) => write('warn', message, context),
    error: (message, context) => write('error', message, context),
  };
}

const json: Render = (time, level, message, context) =>
  JSON.stringify({ time: time.toISOString(), level, message, ...context }, plain);

/** Lists the logged fields of an error, which JSON.stringify omits: they are not enumerable. */
function plain(_key: string, value: unknown): unknown {
  if (!(value instanceof Error)) return value;
  const { name, message, stack, cause } = value;
  return { name, message, stack, ...(cause === undefined ? {} : { cause }) };
}

const colours = { info: 'green', warn: 'yellow', error: 'red' } as const;

/** The time of day, the level, the message, its context as `key=value`, and the trace of an error on lines of its own. */
const readable: Render = (time, level, message, context) => {
  const fields = Object.entries(context).filter(
    ([, value]) => value !== undefined && !(value instanceof Error),
  );
  const errors = Object.values(context).filter((value) => value instanceof Error);
  const head = [
    styled('dim', time.toTimeString().slice(0, 8)),
    styled(colours[level], level.padEnd(5)),
    shown(message),
    ...fields.map(([key, value]) => styled('dim', `${shown(key)}=${fieldText(value)}`)),
  ];
  return [head.join(' '), ...errors.flatMap((error) => traceOf(error, level))].join('\n');
};

/** The stack of what failed; of a warning the message alone, since the service goes on. */
function traceOf(error: Error, level: Level): string[] {
  const text = level === 'error' ? (error.stack ?? String(error)) : String(error);
  const own = text.split('\n').map((line) => `    ${shown(line)}`);
  const { cause } = error;
  return cause instanceof Error ? [...own, '    because', ...traceOf(cause, level)] : own;
}

function fieldText(value: unknown): string {
  const text = typeof value === 'string' ? value : (JSON.stringify(value, plain) ?? String(value));
  return /^[^\s"=]+$/.test(text) ? shown(text) : shown(JSON.stringify(text));
}

/** Names and texts of sandboxes are in the log, and none of them controls the operator's terminal. */
function shown(text: string): string {
  return stripVTControlCharacters(text).replace(/[\p{Cc}\p{Zl}\p{Zp}\u202a-\u202e\u2066-\u2069]/gu, '�');
}

function styled(style: Parameters<typeof styleText>[0], text: string): string {
  return styleText(style, text, { stream: process.stderr });
}
