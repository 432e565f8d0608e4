/**
 * Creations of sandboxes with each machine runtime, in turn, from a service each:
 *
 *     node bench/parts/machine-runtimes.ts [ROUNDS] [PAUSE_MS]
 *
 * The pause lets the processors fall asleep before each creation.
 */
import { setTimeout as sleep } from 'node:timers/promises';
import { must, type Service, startService } from '../../test/support/service.ts';

const RUNTIMES = ['runc', 'direct'] as const;
const WARM_UP_ROUNDS = 2;
const SIZE = { cpu: 1, memory_gb: 1, disk_gb: 10 };

const [rounds = 20, pauseMs = 0] = process.argv.slice(2).map(Number);
const services = new Map<string, Service>();
const times = new Map<string, number[]>(RUNTIMES.map((runtime) => [runtime, []]));

try {
  for (const runtime of RUNTIMES) {
    services.set(runtime, await startService({ env: { SANDHAVEN_MACHINE_RUNTIME: runtime } }));
  }
  for (let round = 0; round < WARM_UP_ROUNDS + rounds; round++) {
    for (const [runtime, service] of services) {
      await sleep(pauseMs);
      const tookMs = await creation(service);
      if (round >= WARM_UP_ROUNDS) times.get(runtime)?.push(tookMs);
    }
  }
  for (const [runtime, measured] of times) console.info(runtime, summary(measured));
} finally {
  for (const service of services.values()) await service.stop();
}

async function creation(service: Service): Promise<number> {
  const began = performance.now();
  await must(service, 'CreateSandbox', { name: 'bench', ...SIZE });
  const tookMs = performance.now() - began;
  await must(service, 'DeleteSandbox', { sandbox: 'bench' });
  return tookMs;
}

function summary(measured: number[]): string {
  const sorted = measured.toSorted((a, b) => a - b);
  const at = (share: number): string => (sorted[Math.floor((sorted.length - 1) * share)] ?? 0).toFixed(1);
  return `median ${at(0.5)} ms, least ${at(0)} ms, most ${at(1)} ms`;
}
