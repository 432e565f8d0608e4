/**
 * Times RunCommand on several services in turns, and compares each with the first by pairs of neighbouring calls: services
 * without traces, with traces, or of another commit.
 *
 * SANDBOX_API_KEY=… bench/parts/tracing.ts [--rounds N] NAME=URL NAME=URL…
 *
 * All services run with that key, on the same idle machine.
 */
import { parseArgs } from 'node:util';
import { createEndpoint, type Endpoint, send } from '../base/http.ts';
import { timed } from '../base/interleave.ts';
import { summarize } from '../base/statistics.ts';

const WARM_UPS = 50;

interface Side {
  name: string;
  endpoint: Endpoint;
  sandbox: string;
  samples: number[];
}

async function main(): Promise<void> {
  const { values, positionals } = parseArgs({
    allowPositionals: true,
    options: { rounds: { type: 'string', default: '1000' } },
  });
  const sides = await Promise.all(positionals.map(open));
  const [first] = sides;
  if (!first) throw new Error('usage: bench/parts/tracing.ts [--rounds N] NAME=URL NAME=URL…');
  for (let round = -WARM_UPS; round < Number(values.rounds); round++) {
    // Another side begins each round: none always follows the slowest.
    for (let at = 0; at < sides.length; at++) {
      const side = sides[(at + round + WARM_UPS) % sides.length] as Side;
      const ms = await timed(() =>
        tool(side.endpoint, 'RunCommand', { sandbox: side.sandbox, command: 'true' }),
      );
      if (round >= 0) side.samples.push(ms);
    }
  }
  for (const { name, samples } of sides) {
    const { median, p95 } = summarize(samples);
    const { median: beyond } = summarize(samples.map((ms, at) => ms - (first.samples[at] ?? 0)));
    console.log(
      `${name}: median ${shown(median)}, p95 ${shown(p95)}, beyond ${first.name} ${shown(beyond)} (median of pairs)`,
    );
  }
  await Promise.all(sides.map(({ endpoint, sandbox }) => tool(endpoint, 'DeleteSandbox', { sandbox })));
  for (const { endpoint } of sides) endpoint.agent.destroy();
}

async function open(argument: string): Promise<Side> {
  const [name = '', url = ''] = argument.split(/=(.*)/s);
  const { hostname, port } = new URL(url);
  const authorization = `Bearer ${process.env['SANDBOX_API_KEY']}`;
  const endpoint = createEndpoint({ host: hostname, port: Number(port) }, { authorization });
  const { id } = await tool(endpoint, 'CreateSandbox', {});
  return { name, endpoint, sandbox: String(id), samples: [] };
}

async function tool(endpoint: Endpoint, name: string, parameters: object): Promise<Record<string, unknown>> {
  const body = Buffer.from(JSON.stringify(parameters));
  return JSON.parse((await send(endpoint, 'POST', `/v1/tools/Sandbox.${name}`, { body })).body.toString());
}

function shown(ms: number): string {
  return `${ms.toFixed(3)} ms`;
}

await main();
