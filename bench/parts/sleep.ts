/**
 * Measures sleeping sandboxes: the processor time that all of them take together, each with a program that never rests while it is
 * awake, and the time from a call on an idle one to its first answer, beside the same call on one that is awake.
 *
 * bench/parts/sleep.ts [COUNT] [SECONDS]
 */
import { mkdtemp, readFile, rm } from 'node:fs/promises';
import { setTimeout as pause } from 'node:timers/promises';
import { createEndpoint, send } from '../base/http.ts';
import { type Sandhaven, startSandhaven } from '../base/sandhaven.ts';
import { summarize } from '../base/statistics.ts';

const WAKES = 200;
/** Sandboxes that are woken by turns. */
const IDLE = 10;

async function main(count: number, seconds: number): Promise<void> {
  const folder = await mkdtemp('/var/tmp/sandhaven-bench-');
  const service = await startSandhaven(folder, 0, ['--disk-overcommit', '1000']);
  try {
    const { hostname, port } = new URL(service.url);
    const endpoint = createEndpoint(
      { host: hostname, port: Number(port) },
      { authorization: `Bearer ${service.apiKey}` },
    );
    const put = (sandbox: string) =>
      send(endpoint, 'POST', '/v1/admin/PauseSandbox', { body: Buffer.from(JSON.stringify({ sandbox })) });
    const make = () => service.create({ memory_gb: 1, disk_gb: 1, cpu: 1, auto_stop_minutes: 0 });
    for (let made = 0; made < count; made++) {
      const id = await make();
      await service.command(id, 'nohup sh -c "while :; do :; done" >/dev/null 2>&1 &');
      await put(id);
    }
    const before = await usedMs(service);
    await pause(seconds * 1_000);
    const used = (await usedMs(service)) - before;
    console.log(`${count} asleep: ${used.toFixed(1)} ms of processor in ${seconds} s, all together`);
    const idle: string[] = [];
    while (idle.length < IDLE) idle.push(await make());
    for (const id of idle) await put(id);
    await times(service, idle, put);
    endpoint.agent.destroy();
  } finally {
    await service[Symbol.asyncDispose]();
    await rm(folder, { recursive: true, force: true });
  }
}

async function times(
  service: Sandhaven,
  ids: readonly string[],
  put: (id: string) => Promise<unknown>,
): Promise<void> {
  const timed = { asleep: [] as number[], awake: [] as number[] };
  for (let wakes = 0; wakes < WAKES; wakes++) {
    const id = ids[wakes % ids.length] ?? '';
    for (const kind of ['asleep', 'awake'] as const) {
      const begun = performance.now();
      await service.readFile(id, '/etc/hostname');
      timed[kind].push(performance.now() - begun);
    }
    await put(id);
  }
  for (const [kind, samples] of Object.entries(timed)) {
    const { median, p95, max } = summarize(samples);
    const shown = [median, p95, max].map((ms) => ms.toFixed(1));
    console.log(
      `first answer of one ${kind}: median ${shown[0]} ms, p95 ${shown[1]} ms, at most ${shown[2]} ms`,
    );
  }
}

/** Processor time of all sandboxes, as the kernel counts it. */
async function usedMs({ cgroup }: Sandhaven): Promise<number> {
  const v1 = await readFile(`/sys/fs/cgroup/cpuacct/${cgroup}/cpuacct.usage`, 'utf8').catch(() => null);
  if (v1 !== null) return Number(v1) / 1e6;
  const v2 = await readFile(`/sys/fs/cgroup/${cgroup}/cpu.stat`, 'utf8');
  return Number(/^usage_usec (\d+)$/m.exec(v2)?.[1]) / 1_000;
}

await main(Number(process.argv[2] ?? 1_000), Number(process.argv[3] ?? 30));
