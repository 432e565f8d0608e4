/**
 * Replaces a service of an older version by this one, while sandboxes run and clients call, and shows which calls failed and
 * when. `bench/upgrade/run.ts --help` has the steps.
 */

import { readFile } from 'node:fs/promises';
import { setTimeout as sleep } from 'node:timers/promises';
import { parseArgs } from 'node:util';
import { Sandhaven } from '../../sdk/src/index.ts';
import { run } from '../base/command.ts';
import { home } from '../base/machine.ts';
import { install } from './installation.ts';
import { callLong, examine, prepare } from './kept.ts';
import { startLoad } from './load.ts';
import { figuresOf, render } from './report.ts';

const help = `Usage: bench/upgrade/run.ts [--seconds N] [--kept-sockets] [--no-long-call] [OLDER]

Starts the service of the checkout OLDER (default: this checkout) on a fresh data directory, makes 10 sandboxes, calls it
steadily for N seconds (default 10), stops it by SIGTERM, starts this checkout on the same data directory and address, and
goes on for another 20 seconds. Needs root and the base image. Fails when a call failed at another time than that of the restart.

With --kept-sockets a manager keeps the listening socket meanwhile, as systemd does for the package's unit; both versions have to
know it, which 0.1.0 does not. A call of two minutes is in progress for all of it, except with --no-long-call: the older version
gives it five seconds before it ends.

A checkout of version 0.1.0, of the commit that stored test/upgrade/stored/0.1.0.tar.zst, with the agent that lies in there:

    commit=$(git log --diff-filter=A --format=%H -- test/upgrade/stored/0.1.0.tar.zst)
    git clone --shared . /var/tmp/older && git -C /var/tmp/older checkout --quiet $commit
    cp -al node_modules /var/tmp/older/ && (cd /var/tmp/older && npm ci)     # npm ci where package-lock.json differs
    programs=native/target/x86_64-unknown-linux-gnu/release
    mkdir -p /var/tmp/older/$programs && cp $programs/sandhaven-* /var/tmp/older/$programs/
    tar -xf test/upgrade/stored/0.1.0.tar.zst --to-stdout --wildcards './agents/*' > /var/tmp/older/$programs/sandhaven-agent

The launcher and the unpacker are this version's there; \`cargo build --release --locked\` in native/ makes its own.`;

const SANDBOXES = 10;
const AFTERWARDS_SECONDS = 20;

interface Plan {
  older: string;
  seconds: number;
  keepsSockets: boolean;
  callsLong: boolean;
}

async function main({ older, seconds, keepsSockets, callsLong }: Plan): Promise<void> {
  const versions = await Promise.all([older, home].map(versionOf));
  say(`${versions[0]} → ${versions[1]}`);
  await using installation = await install(older, keepsSockets);
  const client = new Sandhaven({ url: installation.url, apiKey: installation.apiKey });
  say(`makes ${SANDBOXES} sandboxes`);
  const sandboxes = await prepare(client, SANDBOXES);
  const load = startLoad(installation, sandboxes);
  await sleep(seconds * 1_000);
  const longCall = callsLong ? callLong(client, sandboxes[0] as string) : null;
  await sleep(1_000);
  say('replaces the service');
  const replacement = await installation.replaceBy(home);
  await sleep(AFTERWARDS_SECONDS * 1_000);
  await load.stop();
  const outcome = { ...(await examine(client, sandboxes, load.written)), longCall: await longCall };
  const figures = figuresOf(load.calls, replacement);
  process.stdout.write(`${render(figures, outcome, replacement.terminated)}\n`);
  if (figures.outside.length > 0) process.exitCode = 1;
}

async function versionOf(checkout: string): Promise<string> {
  const commit = await run('git', ['-C', checkout, 'describe', '--always', '--dirty']).catch(() => 'unknown');
  const { version } = JSON.parse(await readFile(`${checkout}/package.json`, 'utf8'));
  return `${version} (${commit})`;
}

function say(text: string): void {
  process.stderr.write(`${text}\n`);
}

const { values, positionals } = parseArgs({
  allowPositionals: true,
  options: {
    seconds: { type: 'string', default: '10' },
    'kept-sockets': { type: 'boolean', default: false },
    'no-long-call': { type: 'boolean', default: false },
    help: { type: 'boolean', default: false },
  },
});
if (values.help) process.stdout.write(`${help}\n`);
else {
  await main({
    older: positionals[0] ?? home,
    seconds: Number(values.seconds),
    keepsSockets: values['kept-sockets'],
    callsLong: !values['no-long-call'],
  });
}
