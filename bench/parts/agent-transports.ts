/**
 * An agent's two transports side by side: the unix socket, TLS with the session of the connection before, and TLS with
 * a whole handshake each time. No service and no engine: the calls are those that a tool makes of its agent.
 *
 * bench/parts/agent-transports.ts [--rounds N]
 *
 * Prints a table. Needs root, `make build` and `make image`.
 */
import { buffer } from 'node:stream/consumers';
import { parseArgs } from 'node:util';
import { createAgentLink } from '../../src/agent-link/agent-link.ts';
import { createConnector } from '../../src/agent-link/connector.ts';
import type { AgentLink } from '../../src/control/ports/index.ts';
import type { NetworkReach } from '../../test/agent-link/reach.ts';
import { startScratchSandbox } from '../../test/agent-link/scratch-sandbox.ts';
import { summarize } from '../base/statistics.ts';

const FILE_BYTES = 64 * 1024 * 1024;
const WARM_UPS = 20;
/** Rounds for each that moves a large file. */
const ROUNDS_PER_FILE = 50;

type Work = (agent: AgentLink, id: string) => Promise<unknown>;

const command = { argv: ['true'], cwd: '.', env: { PATH: '/usr/bin:/bin' }, timeoutMs: 10_000 };
const small: Record<string, Work> = {
  hello: (agent, id) => agent.hello(id, 7),
  'RunCommand true': (agent, id) => agent.exec(id, command),
};
const large: Record<string, Work> = {
  '64 MiB written': (agent, id) =>
    agent.write(id, { path: 'large', createParents: false, content: Buffer.alloc(FILE_BYTES) }),
  '64 MiB read': async (agent, id) => buffer((await agent.readStream(id, { path: 'large' })).stream),
};

async function main(rounds: number): Promise<void> {
  await using socket = await startScratchSandbox({ transport: 'socket' });
  await using network = await startScratchSandbox({ transport: 'tls' });
  const { agent: address, authority, service } = network.reach as NetworkReach;
  const sides: Record<string, AgentLink> = {
    socket: socket.agent,
    'tls, resumed': network.agent,
    'tls, whole': createAgentLink({ openChannel: () => createConnector(authority, service).open(address) }),
  };
  console.info('median (p95), ms; and processor time of this process, ms');
  for (const [name, work] of Object.entries(small)) {
    for (let round = 0; round < WARM_UPS; round++) await each(sides, (agent) => work(agent, socket.id));
    await report(name, sides, rounds, (agent) => work(agent, socket.id));
  }
  for (const [name, work] of Object.entries(large)) {
    await each(sides, (agent) => work(agent, socket.id));
    await report(name, sides, Math.ceil(rounds / ROUNDS_PER_FILE), (agent) => work(agent, socket.id));
  }
}

async function each(sides: Record<string, AgentLink>, work: (agent: AgentLink) => Promise<unknown>) {
  for (const agent of Object.values(sides)) await work(agent);
}

/** Rounds in which every side has its turn. */
async function report(
  name: string,
  sides: Record<string, AgentLink>,
  rounds: number,
  work: (agent: AgentLink) => Promise<unknown>,
): Promise<void> {
  const samples = new Map(
    Object.keys(sides).map((side) => [side, { times: [] as number[], cpu: [] as number[] }]),
  );
  for (let round = 0; round < rounds; round++) {
    for (const [side, agent] of Object.entries(sides)) {
      const cpu = process.cpuUsage();
      const begun = performance.now();
      await work(agent);
      const { user, system } = process.cpuUsage(cpu);
      samples.get(side)?.times.push(performance.now() - begun);
      samples.get(side)?.cpu.push((user + system) / 1_000);
    }
  }
  for (const [side, { times, cpu }] of samples) {
    const { median, p95 } = summarize(times);
    const figures = [median.toFixed(2), `(${p95.toFixed(2)})`, summarize(cpu).median.toFixed(2)];
    console.info([name.padEnd(18), side.padEnd(14), ...figures.map((text) => text.padStart(8))].join(' '));
  }
}

const { values } = parseArgs({ options: { rounds: { type: 'string', default: '300' } } });
await main(Number(values.rounds));
