/** Tools called by the Python package, in a process of its own. */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { root } from '../support/sdk-package.ts';
import { wholeName } from '../support/service.ts';
import type { Outcome, Parameters, Transport } from '../support/transports.ts';

const program = join(root, 'sdk-python', 'test', 'real', 'bridge.py');

/** @param kind 'sync' or 'async': the client that makes the calls. */
export function openBridge(python: string, kind: string, env: Record<string, string>): Transport {
  const child = spawn(python, [program, kind], {
    env: { ...process.env, ...env },
    stdio: ['pipe', 'pipe', 'inherit'],
  });
  const ended = once(child, 'exit');
  const lines = createInterface({ input: child.stdout })[Symbol.asyncIterator]();
  return {
    name: `Python (${kind})`,
    async invoke(tool: string, parameters: Parameters): Promise<Outcome> {
      child.stdin.write(`${JSON.stringify({ tool: wholeName(tool), parameters })}\n`);
      const { value, done } = await lines.next();
      if (done) throw new Error(`the program ended at ${tool}`);
      return JSON.parse(value) as Outcome;
    },
    async close() {
      child.stdin.end();
      await ended;
    },
  };
}
