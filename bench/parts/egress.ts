/**
 * Cost of the egress program, beside the same connection routed straight to the server: through its gate unopened, and opened for a
 * secret, where JSON is masked and other bytes are not; and beside a relay that does nothing but splice. Each way has a first
 * request with its connection and handshakes, further requests, and a download. In the same network namespaces, in turns.
 *
 * bench/parts/egress.ts [--rounds N] [--requests N] [--megabytes N]
 *
 * Server and client are nginx and curl. Needs root, Python 3.10 and `make build`.
 */
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import {
  api,
  createOpened,
  type Opened,
  placeholder,
  secret,
} from '../../test/egress/secrets/support/harness.ts';
import { neighbour, sandbox, stranger } from '../../test/egress/support/harness.ts';
import { summarize } from '../base/statistics.ts';
import { type To, timeRequests } from './egress/client.ts';
import { startRelay } from './egress/relay.ts';
import { startWeb } from './egress/web.ts';

/** A secret is for the second. */
const [unopened, opened] = [9444, 9445];
const CLOCK_TICK_MS = 10;

interface Way {
  name: string;
  to: To;
  /** Path of the download. */
  path: '/bytes' | '/text';
  firstMs: number[];
  otherMs: number[];
  megabytesPerSecond: number[];
  /** Of the program, for the downloads. */
  processorMs: number;
}

async function main(): Promise<void> {
  const option = (value: string) => ({ type: 'string', default: value }) as const;
  const { values } = parseArgs({
    options: { rounds: option('20'), requests: option('50'), megabytes: option('500') },
  });
  const [rounds, requests] = [Number(values.rounds), Number(values.requests)];
  const megabytes = Number(values.megabytes);
  await using net = await createOpened();
  await using web = await startWeb(net, [unopened, opened], megabytes);
  await using _relay = await startRelay(net, { from: stranger, to: api, port: unopened });
  await open(net);
  const ways = waysOf(net, web.folder);
  // The first round warms up.
  for (let round = -1; round < rounds; round++) {
    for (const way of round % 2 === 0 ? ways : [...ways].reverse()) {
      const measured = round < 0 ? { ...way, firstMs: [], otherMs: [], megabytesPerSecond: [] } : way;
      await measure(net, measured, requests, megabytes);
    }
  }
  for (const way of ways) console.log(lineOf(way, rounds * megabytes));
}

/** Packets of one address go straight to the servers; of another one, the program opens connections to one port. */
async function open(net: Opened): Promise<void> {
  await net.host.run('nft', `insert rule ip egress arrive ip saddr ${neighbour} accept`);
  await net.host.run('nft', 'chain ip egress forward { policy accept; }');
  await net.host.run('sysctl', '-qw', 'net.ipv4.ip_forward=1');
  const targets = [{ host: 'api.test', port: opened, methods: [], path: null }];
  const rules = [unopened, opened].map((port) => `https://api.test:${port}`);
  await net.give([secret({ targets })], { rules });
}

function waysOf(net: Opened, folder: string): Way[] {
  const own = join(folder, 'authority.pem');
  writeFileSync(own, net.authorities[sandbox]?.pem ?? '');
  const common = { namespace: net.namespaces.inside, host: 'api.test', address: api };
  const way = (name: string, more: Partial<To>, path: Way['path'] = '/bytes') =>
    (['h1', 'h2'] as const).map((protocol): Way => {
      const to = {
        ...common,
        from: sandbox,
        port: unopened,
        ca: net.roots.bundleFile,
        headers: [],
        protocol,
      };
      return {
        ...{ name: `${protocol} ${name}`, to: { ...to, ...more }, path },
        ...{ firstMs: [], otherMs: [], megabytesPerSecond: [], processorMs: 0 },
      };
    });
  const toOpened = { port: opened, ca: own, headers: [`authorization: Bearer ${placeholder}`] };
  return [
    ...way('routed', { from: neighbour }),
    ...way('spliced', { from: stranger }),
    ...way('unopened', {}),
    ...way('opened', toOpened),
    ...way('opened, masked', toOpened, '/text'),
  ];
}

async function measure(net: Opened, way: Way, requests: number, megabytes: number): Promise<void> {
  const small = Array.from({ length: requests + 1 }, () => '/small');
  const [first = 0, ...others] = await timeRequests(way.to, small);
  way.firstMs.push(first);
  way.otherMs.push(summarize(others).median);
  const before = processorMs(net);
  const [, ms = 0] = await timeRequests(way.to, ['/small', way.path]);
  way.processorMs += processorMs(net) - before;
  way.megabytesPerSecond.push((megabytes / ms) * 1000);
}

function processorMs(net: Opened): number {
  const fields = readFileSync(`/proc/${net.program.child.pid}/stat`, 'utf8').split(') ')[1]?.split(' ') ?? [];
  return (Number(fields[11]) + Number(fields[12])) * CLOCK_TICK_MS;
}

function lineOf({ name, firstMs, otherMs, megabytesPerSecond, processorMs }: Way, megabytes: number): string {
  const [first, other, speed] = [firstMs, otherMs, megabytesPerSecond].map(summarize);
  return (
    `${name}: first request ${first?.median.toFixed(2)} ms, others ${other?.median.toFixed(2)} ms; ` +
    `${speed?.median.toFixed(0)} MB/s (${speed?.min.toFixed(0)} to ${speed?.max.toFixed(0)}), ` +
    `${((processorMs / megabytes) * 1000).toFixed(0)} ms of the program a gigabyte`
  );
}

await main();
