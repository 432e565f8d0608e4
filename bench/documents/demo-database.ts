/**
 * Provides the database that both sides read: that of `sandhaven demo-db`, in a sandbox of the bench's service, so
 * that the measured service carries none of its load.
 */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { home } from '../base/machine.ts';
import type { Service } from './contender.ts';

export const DATABASE = 'shop';
export const COLLECTION = 'orders';
/** A little less than half of them are orders. */
const DOCUMENTS = 210_000;

export interface DemoDatabase extends AsyncDisposable {
  connectionString: string;
}

/**
 * A server named in the environment, such as a MongoDB with the same data, is measured instead.
 *
 * Building the image, and making and loading the sandbox, take minutes the first time on a machine.
 */
export async function startDemoDatabase({ url, apiKey }: Service): Promise<DemoDatabase> {
  const given = process.env['DOCUMENTDB_CONNECTION_STRING'];
  if (given) return { connectionString: given, async [Symbol.asyncDispose]() {} };
  const args = ['demo-db', '--json', '--listen', '127.0.0.1:0', '--documents', String(DOCUMENTS)];
  const child = spawn(join(home, 'bin/sandhaven'), args, {
    env: { ...process.env, SANDBOX_API_URL: url, SANDBOX_API_KEY: apiKey },
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  const ended = once(child, 'exit');
  let progress = '';
  child.stderr.on('data', (chunk) => {
    progress = `${progress}${chunk}`.slice(-2_000);
  });
  async function stop() {
    child.kill('SIGTERM');
    await ended;
  }
  try {
    const lines = createInterface({ input: child.stdout });
    const printed = await Promise.race([once(lines, 'line'), ended.then(() => null)]);
    if (!printed) throw new Error(`sandhaven demo-db ended:\n${progress}`);
    const { connection_string } = JSON.parse(String(printed[0]));
    return { connectionString: String(connection_string), [Symbol.asyncDispose]: stop };
  } catch (error) {
    await stop();
    throw error;
  }
}
