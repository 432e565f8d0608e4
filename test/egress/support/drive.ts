/** Starts programs in network namespaces, and calls their operations (driver.ts). */
import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';
import { createInterface } from 'node:readline';

export interface Driven {
  call<T>(name: string, argument?: object): Promise<T>;
  end(): Promise<void>;
}

export function drive(namespacePath: string, program: string): Driven {
  const child = spawn('nsenter', [
    `--net=${namespacePath}`,
    process.execPath,
    '--disable-warning=ExperimentalWarning',
    join(import.meta.dirname, program),
  ]);
  child.stderr.pipe(process.stderr);
  const waiting = new Map<number, (answer: { result?: unknown; error?: string }) => void>();
  createInterface({ input: child.stdout }).on('line', (line) => {
    const answer = JSON.parse(line);
    waiting.get(answer.call)?.(answer);
    waiting.delete(answer.call);
  });
  child.on('exit', () => {
    for (const answer of waiting.values()) answer({ error: 'the program ended' });
  });
  let calls = 0;
  return {
    async call<T>(name: string, argument: object = {}) {
      const call = ++calls;
      const { result, error } = await new Promise<{ result?: unknown; error?: string }>((resolve) => {
        waiting.set(call, resolve);
        child.stdin.write(`${JSON.stringify({ call, name, argument })}\n`);
      });
      if (error !== undefined) throw new Error(`${program}: ${name}: ${error}`);
      return result as T;
    },
    end: () => ended(child),
  };
}

async function ended(child: ChildProcess): Promise<void> {
  if (child.exitCode !== null || child.signalCode !== null) return;
  const exited = once(child, 'exit');
  child.stdin?.end();
  await exited;
}
