/**
 * A program in a network namespace that a test drives: calls as JSON lines on its standard input, answers on its standard
 * output. It ends with its standard input.
 */
import { createInterface } from 'node:readline';

export type Operations = Record<string, (argument: never) => unknown>;

export function obey(operations: Operations): void {
  const lines = createInterface({ input: process.stdin });
  lines.on('line', async (line) => {
    const { call, name, argument } = JSON.parse(line);
    const answer = (result: object) => process.stdout.write(`${JSON.stringify({ call, ...result })}\n`);
    try {
      answer({ result: (await operations[name]?.(argument as never)) ?? null });
    } catch (error) {
      answer({ error: String(error) });
    }
  });
  lines.on('close', () => process.exit());
}
