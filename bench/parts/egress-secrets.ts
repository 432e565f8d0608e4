/**
 * Cost of a connection that the egress program opens to put a secret into its requests, beside the same one routed straight to the
 * server: a first request with both handshakes, further ones, and a download. In the same network namespaces, in turns.
 *
 * bench/parts/egress-secrets.ts [--rounds N] [--requests N] [--megabytes N]
 *
 * Client and server are Node's. Needs root and `make build`.
 */
import { readFileSync } from 'node:fs';
import { parseArgs } from 'node:util';
import { createOpened, type Opened, secret } from '../../test/egress/secrets/support/harness.ts';
import { neighbour, sandbox } from '../../test/egress/support/harness.ts';
import { summarize } from '../statistics.ts';

interface Measured {
  first: number;
  other: number;
  download: number;
}

async function main(): Promise<void> {
  const option = (value: string) => ({ type: 'string', default: value }) as const;
  const { values } = parseArgs({
    options: { rounds: option('30'), requests: option('50'), megabytes: option('200') },
  });
  const [rounds, requests, megabytes] = [values.rounds, values.requests, values.megabytes].map(Number);
  await using net = await createOpened();
  await net.give([secret()]);
  await routePast(net);
  const ca = readFileSync(net.roots.bundleFile, 'utf8');
  for (const protocol of ['h1', 'h2'] as const) {
    const ways = [
      { name: 'routed', to: net.to({ from: neighbour, ca }), measured: [] as Measured[] },
      { name: 'opened', to: net.to({ from: sandbox }), measured: [] as Measured[] },
    ];
    // The first round warms up.
    for (let round = -1; round < Number(rounds); round++) {
      for (const way of round % 2 === 0 ? ways : [...ways].reverse()) {
        const given = { ...way.to, protocol, requests, megabytes };
        const measured = await net.clients.call<Measured>('measure', given);
        if (round >= 0) way.measured.push(measured);
      }
    }
    for (const { name, measured } of ways)
      console.log(lineOf(`${protocol} ${name}`, measured, Number(megabytes)));
  }
}

/** The neighbour's packets go straight to the server. */
async function routePast(net: Opened): Promise<void> {
  await net.host.run('nft', `insert rule ip egress arrive ip saddr ${neighbour} accept`);
  await net.host.run('nft', 'chain ip egress forward { policy accept; }');
  await net.host.run('sysctl', '-qw', 'net.ipv4.ip_forward=1');
}

function lineOf(name: string, measured: Measured[], megabytes: number): string {
  const median = (of: (one: Measured) => number) => summarize(measured.map(of)).median;
  return (
    `${name}: first request ${median(({ first }) => first).toFixed(2)} ms, ` +
    `others ${median(({ other }) => other).toFixed(2)} ms, ` +
    `${median(({ download }) => (megabytes / download) * 1000).toFixed(0)} MB/s`
  );
}

await main();
