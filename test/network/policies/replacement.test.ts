/** Connections that rules allow both before a change and after it: while the change is made, none is refused, and none ends. */
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { Slot } from '../../../src/runtime/oci/host/plan.ts';
import { inPart } from '../../deep/parts.ts';
import {
  createTestHost,
  type Instance,
  inside,
  launcherPath,
  publicAddress,
  type TestHost,
} from '../harness.ts';
import { serveBytes, sink, upload } from '../limits/transfers.ts';
import { connectTcp, serve } from '../probe.ts';
import { fakeEgress } from './fake-egress.ts';
import { rules } from './rules.ts';
import { tryInALoop } from './try-in-a-loop.ts';

const port = 18_095;
const forbidden = 18_096;
const CHANGES = inPart('network') ? 2_000 : 250;
const REPLACEMENTS = inPart('network') ? 150 : 25;
const sandbox = 'sb_0000000000000001';
const texts = [`tcp://${publicAddress}:${port}`, `tcp://${publicAddress}:${sink}`];
const granted = rules(...texts);
const network = join(import.meta.dirname, '../../../src/runtime/oci/network');

let host: TestHost;
let instance: Instance;
let slot: Slot;
const servers: Disposable[] = [];

beforeAll(async () => {
  host = await createTestHost();
  servers.push(await serve(host.outside, port), await serve(host.outside, forbidden));
  servers.push(await serveBytes(host.outside));
  instance = host.start({ poolSize: 1, egressPath: fakeEgress(host) });
  await instance.init();
  slot = await instance.acquire(sandbox, granted);
});

afterAll(async () => {
  for (const server of servers) server[Symbol.dispose]();
  await host?.[Symbol.asyncDispose]();
});

/** Expects that `change` ends and refuses no connection that is allowed, and opens the forbidden port for none. */
async function goesUnnoticed(change: () => Promise<unknown>): Promise<void> {
  using one = await tryInALoop(slot, port);
  using other = await tryInALoop(slot, port);
  using third = await tryInALoop(slot, port);
  using refused = await tryInALoop(slot, forbidden);
  // A connection with many packets is the likeliest to have one in the middle of a change.
  using busy = await upload(inside(slot), publicAddress);
  await change();
  expect(await busy.rate(500)).toBeGreaterThan(0);
  for (const { seen } of [one, other, third]) {
    expect(seen.refused).toBe(0);
    expect(seen.greeted).toBeGreaterThan(20);
  }
  expect(refused.seen.greeted).toBe(0);
}

describe('a connection that rules allow goes on', { timeout: 90_000 }, () => {
  it('while other rules come and go', async () => {
    await goesUnnoticed(async () => {
      for (let at = 1; at <= CHANGES; at++) {
        await instance.setNetwork(sandbox, rules(...texts, `tcp://203.0.113.7:${at}`));
      }
    });
    await instance.setNetwork(sandbox, granted);
    expect(instance.log()).not.toContain('policies could not be changed');
  });

  it('while the whole table is replaced', async () => {
    await instance.kill();
    // The firewall alone, as the service has it, led to a program and to none by turns.
    const code = `
      const { createFirewall } = await import('${network}/firewall.ts');
      const { addressPolicyOf } = await import('${network}/policy/address-policy.ts');
      const { createSpawner } = await import('${network}/../../programs/spawner.ts');
      const { useRunner } = await import('${network}/../../programs/run-program.ts');
      const [id, gateway, address, policy, launcher] = process.argv.slice(1);
      useRunner(createSpawner(launcher));
      const log = { info() {}, warn: console.log, error: console.log };
      const firewall = createFirewall(id, gateway, log);
      await firewall.start(new Map([[address, addressPolicyOf(JSON.parse(policy))]]));
      for (let at = 1; at <= ${REPLACEMENTS}; at++) {
        await firewall.lead(at % 2 ? { uid: 1, gatePort: at, dnsPort: 2, resolvers: [] } : null);
      }
      await firewall.close();
      process.exit();`;
    const { gateway, address } = slot;
    const args = [instance.id, gateway, address, JSON.stringify(granted), launcherPath];
    await goesUnnoticed(async () => {
      const said = await host.run(process.execPath, '--input-type=module', '-e', code, '--', ...args);
      expect(said).toBe('');
    });
  });
});

it('a table of another form is made anew', async () => {
  await instance.kill();
  const table = `inet sandhaven_${instance.id}`;
  const parts =
    'map granted { type ipv4_addr : mark; }; chain forward { type filter hook input priority 0; };';
  await host.run('nft', `delete table ${table}; table ${table} { ${parts} }`);
  instance = host.start({ instanceId: instance.id, poolSize: 1, egressPath: fakeEgress(host) });
  await instance.init();
  expect(await connectTcp(inside(slot), publicAddress, port)).toBe('hello');
  expect(await connectTcp(inside(slot), publicAddress, forbidden)).not.toBe('hello');
  expect(instance.log()).toContain('the firewall table has another form, and is made anew');
});
