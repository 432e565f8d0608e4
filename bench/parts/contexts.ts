/**
 * Contexts. First of a service: from the request of a sandbox out of the warm pool to the first result of its first context. Then of an
 * agent, without service and engine: the start of each language's interpreter with its first result, the smallest run, an interruption,
 * the memory of 50, of 1,000 runs, and 100 MB of output.
 *
 * bench/parts/contexts.ts [--rounds N]
 *
 * Prints a table: median, p95 in brackets and least, in milliseconds. Needs root, `make build` and `make image`.
 */
import { mkdtemp, rm } from 'node:fs/promises';
import { setTimeout as sleep } from 'node:timers/promises';
import { parseArgs } from 'node:util';
import type { ContextLanguage } from '../../src/model/sandbox.ts';
import { type ScratchSandbox, startScratchSandbox } from '../../test/agent-link/scratch-sandbox.ts';
import { createEndpoint, send } from '../base/http.ts';
import { startSandhaven } from '../base/sandhaven.ts';
import { summarize } from '../base/statistics.ts';

const ENV = { PATH: '/usr/local/bin:/usr/bin:/bin', HOME: '/root', LANG: 'C.UTF-8' };
const SMALLEST: Record<ContextLanguage, string> = {
  python: '1+1',
  javascript: '1+1',
  typescript: '1+1',
  bash: 'echo 2',
};
const WARM_POOL = 4;
const ENDLESS = 'while True: pass';
const PRINTS = 'import sys\nfor _ in range(1600): sys.stdout.write("x" * 65_536)';

async function main(rounds: number): Promise<void> {
  await ofWarmPool(rounds);
  await using sandbox = await startScratchSandbox();
  for (const [language, code] of Object.entries(SMALLEST) as [ContextLanguage, string][]) {
    const starts: number[] = [];
    const runs: number[] = [];
    for (let round = 0; round < rounds; round++) {
      starts.push(await timed(() => first(sandbox, language, code)));
      runs.push(await timed(() => run(sandbox, language, code)));
      await sandbox.agent.deleteContext(sandbox.id, language);
    }
    print(`${language}: started, first result`, starts);
    print(`${language}: ${code}`, runs);
  }
  await create(sandbox, 'python', 'python');
  const interruptions: number[] = [];
  for (let round = 0; round < rounds; round++) {
    const running = run(sandbox, 'python', ENDLESS);
    await sleep(50);
    const begun = performance.now();
    await sandbox.agent.interruptContext(sandbox.id, 'python');
    await running;
    interruptions.push(performance.now() - begun);
  }
  print('python: interrupted', interruptions);
  await run(sandbox, 'python', 'import os');
  const before = await residentKb(sandbox);
  for (let step = 0; step < 1_000; step++) await run(sandbox, 'python', `x = ${step}; x`);
  console.info(`1,000 runs: from ${before} to ${await residentKb(sandbox)} KB`);
  let bytes = 0;
  const output = {
    whole: true,
    show(piece: { bytes: Buffer }): undefined {
      bytes += piece.bytes.length;
    },
  };
  const live = { output, generation: sandbox.generation };
  const request = { contextId: 'python', code: PRINTS, timeoutMs: 60_000, live };
  const ms = await timed(() => sandbox.agent.runInContext(sandbox.id, request));
  console.info(`${Math.round(bytes / 1e6)} MB of output: ${Math.round(ms)} ms`);
  for (let count = 1; count < 50; count++) await create(sandbox, 'python', `c${count}`);
  for (let count = 1; count < 50; count++) await run(sandbox, `c${count}`, '1+1');
  const sum = "cat /proc/[0-9]*/smaps_rollup 2>/dev/null | awk '/^Pss:/ { kb += $2 } END { print kb }'";
  console.info(
    `50 contexts: ${(await sandbox.sh(sum)).output.trim()} KB of all that runs, shared pages divided`,
  );
}

async function ofWarmPool(rounds: number): Promise<void> {
  const folder = await mkdtemp('/var/tmp/sandhaven-bench-');
  try {
    await using service = await startSandhaven(folder, WARM_POOL);
    const { hostname, port } = new URL(service.url);
    const headers = { authorization: `Bearer ${service.apiKey}` };
    const endpoint = createEndpoint({ host: hostname, port: Number(port) }, headers);
    for (const language of ['python', 'typescript'] as const) {
      const times: number[] = [];
      // The first round is not counted: connections and code paths are warm then.
      for (let round = 0; round <= rounds; round++) {
        await service.poolFull();
        const begun = performance.now();
        const id = await service.create();
        const body = Buffer.from(JSON.stringify({ sandbox: id, language, code: SMALLEST[language] }));
        const { body: answer } = await send(endpoint, 'POST', '/v1/tools/Sandbox.RunInContext', { body });
        if (round > 0) times.push(performance.now() - begun);
        if (!answer.toString().includes('"2"')) throw new Error(answer.toString());
        await service.remove(id);
      }
      print(`${language}: sandbox, first result`, times);
    }
    endpoint.agent.destroy();
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
}

async function first(sandbox: ScratchSandbox, language: ContextLanguage, code: string): Promise<void> {
  await create(sandbox, language, language);
  await run(sandbox, language, code);
}

async function create(sandbox: ScratchSandbox, language: ContextLanguage, contextId: string): Promise<void> {
  const request = { contextId, language, cwd: '.', env: ENV, memoryMb: null, replace: false };
  await sandbox.agent.createContext(sandbox.id, request);
}

async function run(sandbox: ScratchSandbox, contextId: string, code: string): Promise<void> {
  const result = await sandbox.agent.runInContext(sandbox.id, { contextId, code, timeoutMs: 60_000 });
  if (result.error && code !== ENDLESS) throw new Error(result.error.traceback);
}

async function residentKb(sandbox: ScratchSandbox): Promise<string> {
  const code = 'print(open(f"/proc/{os.getpid()}/status").read().split("VmRSS:")[1].split()[0])';
  const request = { contextId: 'python', code, timeoutMs: 60_000 };
  return (await sandbox.agent.runInContext(sandbox.id, request)).output.trim();
}

async function timed(work: () => Promise<unknown>): Promise<number> {
  const begun = performance.now();
  await work();
  return performance.now() - begun;
}

function print(name: string, times: number[]): void {
  const { median, p95 } = summarize(times);
  const figures = [median.toFixed(1), `(${p95.toFixed(1)})`, Math.min(...times).toFixed(1)];
  console.info([name.padEnd(34), ...figures.map((text) => text.padStart(8))].join(' '));
}

const { values } = parseArgs({ options: { rounds: { type: 'string', default: '20' } } });
await main(Number(values.rounds));
