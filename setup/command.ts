/** Runs one command of the set-up to its end. */
import { createInterface } from 'node:readline';
import { startProgram } from '../src/runtime/start-program.ts';

export interface CommandOptions {
  /** Added to the set-up's own environment. */
  env?: Record<string, string>;
  cwd?: string;
  /** Receives each line of standard error, for showing progress; otherwise it is kept for the error. */
  onLine?: (line: string) => void;
}

const LINES_KEPT = 20;

/** @returns its standard output. Rejects, with its last lines, when it cannot start or its exit status is not 0. */
export async function command(file: string, argv: string[], options: CommandOptions = {}): Promise<string> {
  const { env, cwd, onLine } = options;
  const child = await startProgram(file, argv, {
    env: { ...process.env, ...env },
    ...(cwd === undefined ? {} : { cwd }),
  });
  const ended = new Promise<number | null>((resolve, reject) => {
    child.once('error', reject).once('close', resolve);
  });
  const said: string[] = [];
  createInterface(child.stderr).on('line', (line) => {
    said.push(line);
    if (said.length > LINES_KEPT) said.shift();
    onLine?.(line);
  });
  let output = '';
  child.stdout.setEncoding('utf8').on('data', (text: string) => {
    output += text;
  });
  const code = await ended;
  if (code !== 0) throw new Error([`${file} failed with status ${code}`, ...(onLine ? [] : said)].join('\n'));
  return output;
}

/** Reports a failed set-up step in a line or two, without a stack. */
export async function step(name: string, work: () => Promise<void>): Promise<void> {
  try {
    await work();
  } catch (error) {
    console.error(`${name}: ${error instanceof Error ? error.message : String(error)}`);
    process.exitCode = 1;
  }
}
