/**
 * Changes of network policies in the firewall, among machines that have rules for addresses, without machines: in a network
 * namespace of its own, which goes with it.
 *
 *     unshare --net node bench/parts/network-rules.ts [MACHINES] [RULES]
 *
 * As root, after `make build`.
 */
import { addressOf } from '../../src/runtime/oci/host/plan.ts';
import { createFirewall } from '../../src/runtime/oci/network/firewall.ts';
import { addressPolicyOf } from '../../src/runtime/oci/network/policy/address-policy.ts';
import { useRunner } from '../../src/runtime/programs/run-program.ts';
import { createSpawner } from '../../src/runtime/programs/spawner.ts';
import { rules } from '../../test/network/policies/rules.ts';
import { launcherPath } from '../../test/runtime/host.ts';
import { summarize } from '../base/statistics.ts';

const ROUNDS = 40;
const [machines = 200, count = 50] = process.argv.slice(2).map(Number);
const log = { info() {}, warn: console.warn, error: console.error };
/** Rules for as many ports of as many addresses; others for each number. */
const policy = (number: number) => {
  const texts = Array.from({ length: count }, (_, i) => `tcp://203.0.${i % 256}.9:${1_000 + number + i}`);
  return addressPolicyOf(rules(...texts));
};
const first = policy(0);
const others = Array.from({ length: ROUNDS }, (_, round) => policy(round + 1));
const newcomer = (round: number) => addressOf(9_000 + round);

const spawner = createSpawner(launcherPath);
useRunner(spawner);
const firewall = createFirewall('bench0', addressOf(0), log);
const before = Array.from({ length: machines }, (_, i) => addressOf(i + 1));
await firewall.start(new Map(before.flatMap((address) => (first ? [[address, first]] : []))));

await time('another policy with as many rules', (round) => firewall.set(addressOf(1), others[round] ?? null));
await time('a new machine with rules', (round) => firewall.set(newcomer(round), first));
await time('its end', (round) => firewall.set(newcomer(round), null));
await time('a new machine with an open network', (round) =>
  firewall.set(newcomer(round), addressPolicyOf({ mode: 'open' })),
);
await time('its end', (round) => firewall.set(newcomer(round), null));

await firewall.close();
spawner.close();

async function time(what: string, change: (round: number) => Promise<void>): Promise<void> {
  const times: number[] = [];
  for (let round = 0; round < ROUNDS; round++) {
    const began = performance.now();
    await change(round);
    times.push(performance.now() - began);
  }
  const { median, min, p95 } = summarize(times);
  console.info(
    `${what}: median ${median.toFixed(1)} ms, least ${min.toFixed(1)} ms, p95 ${p95.toFixed(1)} ms`,
  );
}
