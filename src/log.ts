/** The service's log: one JSON object per line on standard error. */
import type { Log } from './control/ports/index.ts';

type Level = 'info' | 'warn' | 'error';

export function createLog(out: NodeJS.WritableStream = process.stderr): Log {
  const write = (level: Level, message: string, context: Record<string, unknown> = {}) => {
    const line = { time: new Date().toISOString(), level, message, ...context };
    out.write(`${JSON.stringify(line, plain)}\n`);
  };
  return {
    info: (message, context) => write('info', message, context),
    warn: (message, context) => write('warn', message, context),
    error: (message, context) => write('error', message, context),
  };
}

/** Lists the logged fields of an error, which JSON.stringify omits: they are not enumerable. */
function plain(_key: string, value: unknown): unknown {
  if (!(value instanceof Error)) return value;
  const { name, message, stack, cause } = value;
  return { name, message, stack, ...(cause === undefined ? {} : { cause }) };
}
