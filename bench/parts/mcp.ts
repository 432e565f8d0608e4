/**
 * Times one small tool, WhoAmI, over HTTP and over MCP, in turns, on services that run: this one, and others to compare it with.
 *
 * SANDBOX_API_KEY=… bench/parts/mcp.ts [--rounds N] NAME=URL…
 *
 * All services run with that key.
 */
import { parseArgs } from 'node:util';
import { createEndpoint, type Endpoint, send } from '../base/http.ts';
import { timed } from '../base/interleave.ts';
import { summarize } from '../base/statistics.ts';

const WARM_UPS = 200;

interface Way {
  name: string;
  endpoint: Endpoint;
  path: string;
  body: Buffer;
  samples: number[];
}

async function main(): Promise<void> {
  const { values, positionals } = parseArgs({
    allowPositionals: true,
    options: { rounds: { type: 'string', default: '2000' } },
  });
  const ways = positionals.flatMap(waysOf);
  for (let round = -WARM_UPS; round < Number(values.rounds); round++) {
    // Another way begins each round: none always follows the slowest.
    for (let at = 0; at < ways.length; at++) {
      const { endpoint, path, body, samples } = ways[(at + round + WARM_UPS) % ways.length] as Way;
      const ms = await timed(() => send(endpoint, 'POST', path, { body }));
      if (round >= 0) samples.push(ms);
    }
  }
  for (const { name, samples, endpoint } of ways) {
    const { median, p95 } = summarize(samples);
    console.log(`${name}: median ${median.toFixed(3)} ms, p95 ${p95.toFixed(3)} ms`);
    endpoint.agent.destroy();
  }
}

function waysOf(argument: string): Way[] {
  const [name = '', url = ''] = argument.split(/=(.*)/s);
  const { hostname, port } = new URL(url);
  const headers = {
    authorization: `Bearer ${process.env['SANDBOX_API_KEY']}`,
    accept: 'application/json, text/event-stream',
  };
  const way = (surface: string, path: string, body: object): Way => ({
    name: `${name}, ${surface}`,
    endpoint: createEndpoint({ host: hostname, port: Number(port) }, headers),
    path,
    body: Buffer.from(JSON.stringify(body)),
    samples: [],
  });
  const params = { name: 'Sandbox_WhoAmI', arguments: {} };
  return [
    way('HTTP', '/v1/tools/Sandbox.WhoAmI', {}),
    way('MCP', '/mcp', { jsonrpc: '2.0', id: 1, method: 'tools/call', params }),
  ];
}

await main();
