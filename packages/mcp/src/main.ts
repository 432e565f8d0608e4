#!/usr/bin/env node
/** `sandhaven-mcp`: reads its options, serves its client, and ends with it. */
import { readFileSync } from 'node:fs';
import { logLine } from './answer.ts';
import { bounds } from './bounds.ts';
import { runBridge } from './bridge.ts';
import { Failure } from './failure.ts';
import { help } from './help.ts';
import { isReadable, optionsOf, type Parsed, parseFlags } from './options.ts';

/** Time for the last answer to reach a client that does not read. */
const LAST_WRITE_MS = 1_000;

const { argv, env, stdin, stdout, stderr } = process;

// A client that reads no standard error is no reason to end.
stderr.on('error', () => {});

const status = await main().catch((error: unknown) => {
  if (!(error instanceof Failure)) throw error;
  stderr.write(`${logLine(error, '', bounds.textChars)}\n`);
  return error.exit;
});
// An open connection or standard input would keep the process.
const exit = () => process.exit(status);
setTimeout(exit, LAST_WRITE_MS);
stdout.write('', exit);

/** Resolves to the exit status. */
async function main(): Promise<number> {
  const flags = parseFlags(argv.slice(2));
  if (flags.help) stdout.write(help);
  else if (flags.version) stdout.write(`${version()}\n`);
  else return serve(flags);
  return 0;
}

async function serve(flags: Parsed): Promise<number> {
  const options = await optionsOf(flags, env, bounds);
  const { url } = options;
  if (isReadable(url)) {
    stderr.write(
      `sandhaven-mcp: the key goes to ${url.origin} unencrypted; others on the way can read it.\n`,
    );
  }
  const ending = new AbortController();
  for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) process.on(signal, () => ending.abort());
  return runBridge(options, bounds, { stdin, stdout, stderr, signal: ending.signal });
}

function version(): string {
  const manifest = readFileSync(new URL('../package.json', import.meta.url), 'utf8');
  return (JSON.parse(manifest) as { version: string }).version;
}
