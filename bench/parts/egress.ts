/**
 * Cost of the egress program for an allowed TLS connection: time until the first byte of the server, and throughput, beside the
 * same connection routed straight to the server. Both run in the same network namespaces, in turns.
 *
 * bench/parts/egress.ts [--rounds N] [--megabytes N]
 *
 * The hello is one of TLS and the rest is plain, since the program opens neither. Needs root and `make build`.
 */
import { readFileSync } from 'node:fs';
import { parseArgs } from 'node:util';
import { createInternet, type Internet, neighbour, sandbox } from '../../test/egress/support/harness.ts';
import { hello } from '../../test/egress/support/messages.ts';
import { summarize } from '../statistics.ts';

const server = '203.0.113.10';
/** It sends without end after the first bytes. */
const port = 9000;
const WARM_UPS = 20;
const DOWNLOADS = 10;
const CLOCK_TICK_MS = 10;

interface Way {
  name: string;
  from: string;
  firstByteMs: number[];
  megabytesPerSecond: number[];
}

async function main(): Promise<void> {
  const { values } = parseArgs({
    options: { rounds: { type: 'string', default: '500' }, megabytes: { type: 'string', default: '1000' } },
  });
  await using net = await createInternet();
  await allow(net);
  const ways: Way[] = [
    { name: 'routed', from: neighbour, firstByteMs: [], megabytesPerSecond: [] },
    { name: 'through the gate', from: sandbox, firstByteMs: [], megabytesPerSecond: [] },
  ];
  for (let round = -WARM_UPS; round < Number(values.rounds); round++) {
    for (const way of inTurn(ways, round)) {
      const ms = await timeBytes(net, way.from, 1);
      if (round >= 0) way.firstByteMs.push(ms);
    }
  }
  const before = processorMs(net);
  for (let round = 0; round < DOWNLOADS; round++) {
    for (const way of inTurn(ways, round)) {
      const ms = await timeBytes(net, way.from, Number(values.megabytes) * 1e6);
      way.megabytesPerSecond.push((Number(values.megabytes) / ms) * 1000);
    }
  }
  const spent = (processorMs(net) - before) / (DOWNLOADS * Number(values.megabytes));
  for (const way of ways) console.log(lineOf(way));
  console.log(`processor time of the program: ${(spent * 1000).toFixed(0)} ms a gigabyte`);
}

/** One address goes through the gate, the other past it. */
async function allow(net: Internet): Promise<void> {
  await net.zone('api.test', { addresses: [server] });
  await net.program.allow(sandbox, [`https://api.test:${port}`]);
  await net.resolve('api.test');
  await net.host.run('nft', `insert rule ip egress arrive ip saddr ${neighbour} accept`);
  await net.host.run('nft', 'chain ip egress forward { policy accept; }');
  await net.host.run('sysctl', '-qw', 'net.ipv4.ip_forward=1');
}

/** Another one begins each round: none always follows the slower. */
function inTurn(ways: Way[], round: number): Way[] {
  return round % 2 === 0 ? ways : [...ways].reverse();
}

function timeBytes(net: Internet, from: string, bytes: number): Promise<number> {
  const first = hello(['api.test']).toString('base64');
  return net.inside.call<number>('timeBytes', { from, host: server, port, first, bytes });
}

function processorMs(net: Internet): number {
  const fields = readFileSync(`/proc/${net.program.child.pid}/stat`, 'utf8').split(') ')[1]?.split(' ') ?? [];
  return (Number(fields[11]) + Number(fields[12])) * CLOCK_TICK_MS;
}

function lineOf({ name, firstByteMs, megabytesPerSecond }: Way): string {
  const [first, speed] = [summarize(firstByteMs), summarize(megabytesPerSecond)];
  return (
    `${name}: first byte median ${first.median.toFixed(2)} ms, p95 ${first.p95.toFixed(2)} ms; ` +
    `${speed.median.toFixed(0)} MB/s (${speed.min.toFixed(0)} to ${speed.max.toFixed(0)})`
  );
}

await main();
