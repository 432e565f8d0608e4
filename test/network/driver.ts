/**
 * One instance's slots in a process of their own, so that a test can put it into another network namespace and
 * kill it. Takes the options as its argument, then calls as JSON lines.
 */
import { rmSync } from 'node:fs';
import { createInterface } from 'node:readline';
import type { NetworkPolicy } from '../../src/model/network/policy.ts';
import type { MachineSecrets } from '../../src/runtime/oci/network/policies.ts';
import { createSlots, type SlotsOptions } from '../../src/runtime/oci/network/slots.ts';
import { useRunner } from '../../src/runtime/programs/run-program.ts';
import { createSpawner } from '../../src/runtime/programs/spawner.ts';
import { type WatchOptions, watchOf } from './limits/watch-of.ts';

const say = (level: string) => (message: string, context?: object) =>
  process.stderr.write(`${level} ${message} ${JSON.stringify(context ?? {})}\n`);

const options: Omit<SlotsOptions, 'log'> & WatchOptions = JSON.parse(process.argv[2] ?? '{}');
// As in a service, which changes some sets of the firewall by it.
useRunner(createSpawner(options.launcherPath));
const slots = createSlots({
  ...options,
  ...(options.owners ? { ownerOf: (id: string) => options.owners?.[id] ?? id } : {}),
  log: { info: say('info'), warn: say('warn'), error: say('error') },
  onNetworkEvents: (events) => void process.stdout.write(`${JSON.stringify({ events })}\n`),
});

const watch = options.watch ? watchOf(slots.traffic, options) : null;

type Method = (sandboxId: string, policy: NetworkPolicy | null, secrets: MachineSecrets | null) => unknown;

const methods: Record<string, Method> = {
  async init() {
    await slots.init();
    watch?.begin();
  },
  traffic: (sandboxId) => watch?.of(sandboxId),
  settle: () => watch?.look(),
  setDay: (day) => watch?.setDay(day),
  async acquire(sandboxId, policy, secrets) {
    if (policy) await slots.setNetwork(sandboxId, policy, secrets);
    const slot = await slots.acquire(sandboxId);
    await slots.networkSet(sandboxId);
    return slot;
  },
  setNetwork: (sandboxId, policy, secrets) => policy && slots.setNetwork(sandboxId, policy, secrets),
  get: (sandboxId) => slots.get(sandboxId),
  release: (sandboxId) => slots.release(sandboxId),
  held: () => slots.held(),
  free: () => slots.free(),
  async close() {
    await watch?.close();
    await slots.close();
  },
  async purge() {
    await watch?.close();
    await slots.purge();
  },
};

for await (const line of createInterface({ input: process.stdin })) {
  const { call, method, sandboxId, policy, secrets = null } = JSON.parse(line);
  const answer = (result: object) => process.stdout.write(`${JSON.stringify({ call, ...result })}\n`);
  Promise.resolve(methods[method]?.(sandboxId, policy, secrets)).then(
    (result) => answer({ result }),
    (error) =>
      answer({ error: { code: error.code, message: error.message, cause: String(error.cause ?? '') } }),
  );
}
// The test is over, or was killed.
await slots.purge();
rmSync(options.runDir, { recursive: true, force: true });
process.exit(0);
