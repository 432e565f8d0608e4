/**
 * Measures the time that a preview adds to a request. The host cannot reach a sandbox's port by itself, so a program
 * inside the sandbox makes the direct request, to its own loopback; both use the same server on a kept connection.
 */
import { createEndpoint, send } from '../base/http.ts';
import { interleave, timed } from '../base/interleave.ts';
import type { Scenario } from '../base/scenario.ts';
import { summarize } from '../base/statistics.ts';

const PORT = 3000;
const ROUNDS = 20;
const REQUESTS = 50;
const LARGE_BYTES = 300_000_000;

const SERVER = `require('node:http').createServer((request, response) => {
  const bytes = Number(request.url.slice(1));
  response.writeHead(200, { 'content-length': bytes });
  const block = Buffer.alloc(1 << 18);
  let left = bytes;
  const more = () => {
    while (left > 0) {
      const part = block.subarray(0, Math.min(left, block.length));
      left -= part.length;
      if (!response.write(part) && left > 0) return void response.once('drain', more);
    }
    response.end();
  };
  more();
}).listen(${PORT});`;

/** Prints the median of as many requests, in milliseconds. */
const DIRECT = `const http = require('node:http');
const agent = new http.Agent({ keepAlive: true });
const one = () => new Promise((resolve, reject) => http.get({ host: '127.0.0.1', port: ${PORT}, path: '/2', agent },
  (response) => response.resume().on('end', resolve)).on('error', reject));
(async () => {
  const times = [];
  for (let i = 0; i < ${REQUESTS} + 10; i++) {
    const start = performance.now();
    await one();
    if (i >= 10) times.push(performance.now() - start);
  }
  times.sort((a, b) => a - b);
  console.log(times[${REQUESTS} / 2]);
  agent.destroy();
})();`;

export const preview: Scenario = async ({ sandhaven, rounds }) => {
  const sandbox = await sandhaven.create();
  await sandhaven.writeFile(sandbox, 'server.js', SERVER);
  await sandhaven.writeFile(sandbox, 'direct.js', DIRECT);
  await sandhaven.command(
    sandbox,
    `nohup node server.js >/dev/null 2>&1 & until curl -s 127.0.0.1:${PORT}/2 >/dev/null; do sleep 0.1; done`,
  );
  const { host, port } = await sandhaven.preview(sandbox, PORT);
  const endpoint = createEndpoint({ host: '127.0.0.1', port: Number(port) }, { host });
  const direct: number[] = [];
  const proxied: number[] = [];
  try {
    const samples = await interleave(rounds(ROUNDS), {
      sandhaven: async () => {
        const inside = Number(await sandhaven.command(sandbox, 'node direct.js'));
        const through = await medianOf(REQUESTS, () => send(endpoint, 'GET', '/2'));
        direct.push(inside);
        proxied.push(through);
        const large = await timed(() => send(endpoint, 'GET', `/${LARGE_BYTES}`, { discard: true }));
        return { previewAdded: through - inside, previewDownload: LARGE_BYTES / 1e3 / large };
      },
    });
    return { samples, details: { direct: summarize(direct), proxied: summarize(proxied) } };
  } finally {
    endpoint.agent.destroy();
    await sandhaven.remove(sandbox);
  }
};

async function medianOf(count: number, work: () => Promise<unknown>): Promise<number> {
  const times: number[] = [];
  for (let i = 0; i < count; i++) times.push(await timed(work));
  return summarize(times).median;
}
