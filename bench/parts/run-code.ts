/**
 * RunCode of an agent, without service and engine: each language's smallest program, the chart of the table, and
 * beside TypeScript the same where Node reads it by itself. Every row has its turn in each round.
 *
 * bench/parts/run-code.ts [--rounds N]
 *
 * Prints a table. Needs root, `make build` and `make image`.
 */
import { parseArgs } from 'node:util';
import type { Language } from '../../src/model/sandbox.ts';
import { type ScratchSandbox, startScratchSandbox } from '../../test/agent-link/scratch-sandbox.ts';
import { summarize } from '../base/statistics.ts';

const ENV = { PATH: '/usr/local/bin:/usr/bin:/bin', HOME: '/root', LANG: 'C.UTF-8' };
const STARTER = '/usr/local/libexec/sandhaven-typescript';
const WARM_UPS = 3;

const TYPESCRIPT = 'const answer: number = 42; console.log(answer)';
const CHART = 'import pandas as pd, matplotlib.pyplot as plt\nplt.plot([1, 2, 3]); plt.show()';

interface Row {
  name: string;
  sandbox: ScratchSandbox;
  language: Language;
  code: string;
}

async function main(rounds: number): Promise<void> {
  await using sandbox = await startScratchSandbox();
  await using withoutStarter = await startScratchSandbox();
  await withoutStarter.sh(`rm ${STARTER}`);
  const rows: Row[] = [
    { name: 'TypeScript', sandbox, language: 'typescript', code: TYPESCRIPT },
    { name: 'TypeScript, by Node', sandbox: withoutStarter, language: 'typescript', code: TYPESCRIPT },
    { name: 'JavaScript', sandbox, language: 'javascript', code: 'console.log(42)' },
    { name: 'Python', sandbox, language: 'python', code: 'print(1)' },
    { name: 'Python, a chart', sandbox, language: 'python', code: CHART },
  ];
  const samples = new Map(rows.map(({ name }) => [name, [] as number[]]));
  for (let round = -WARM_UPS; round < rounds; round++) {
    for (const row of rows) {
      const ms = await timed(row);
      if (round >= 0) samples.get(row.name)?.push(ms);
    }
  }
  console.info('median (p95) and least, ms');
  for (const [name, times] of samples) {
    const { median, p95 } = summarize(times);
    const figures = [median.toFixed(1), `(${p95.toFixed(1)})`, Math.min(...times).toFixed(1)];
    console.info([name.padEnd(20), ...figures.map((text) => text.padStart(8))].join(' '));
  }
}

async function timed({ name, sandbox, language, code }: Row): Promise<number> {
  const begun = performance.now();
  const result = await sandbox.agent.runCode(sandbox.id, { language, code, env: ENV, timeoutMs: 60_000 });
  const ms = performance.now() - begun;
  if (result.exitCode !== 0) throw new Error(`${name}: ${result.output}`);
  return ms;
}

const { values } = parseArgs({ options: { rounds: { type: 'string', default: '40' } } });
await main(Number(values.rounds));
