/**
 * Lets nodes pull from registries on the machine's loopback address, which tests start and stop as they like: containerd
 * asks one mirror for all registries, names the one that it means in `ns`, and the mirror asks that.
 */
import { once } from 'node:events';
import { mkdirSync, writeFileSync } from 'node:fs';
import { createServer, request } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { pipeline } from 'node:stream';
import type { Cluster } from '../../cluster/cluster.ts';

/** Resolves with its end once the nodes use it. Pulls of other registries than loopback ones are refused. */
export async function startPullDoor({ hostAddress, nodes }: Cluster): Promise<() => Promise<void>> {
  const server = createServer((asked, answer) => {
    const url = new URL(asked.url ?? '', 'http://door');
    const [, host, port] = /^(127\.0\.0\.1):(\d+)$/.exec(url.searchParams.get('ns') ?? '') ?? [];
    if (host === undefined) {
      answer.writeHead(404).end();
      return;
    }
    url.searchParams.delete('ns');
    const headers = { ...asked.headers, host: `${host}:${port}` };
    const options = { host, port, method: asked.method, path: url.pathname + url.search, headers };
    const onward = request(options, (came) => {
      answer.writeHead(came.statusCode ?? 502, came.rawHeaders);
      pipeline(came, answer, () => undefined);
    });
    onward.on('error', () => (answer.headersSent ? answer.destroy() : answer.writeHead(502).end()));
    answer.on('close', () => onward.destroy());
    onward.end();
  });
  server.listen(0, hostAddress);
  await once(server, 'listening');
  const { port } = server.address() as AddressInfo;
  for (const { folder } of nodes) {
    const configured = join(folder, 'lib/config/registries/_default');
    mkdirSync(configured, { recursive: true });
    const mirror = `[host."http://${hostAddress}:${port}"]\n  capabilities = ["pull", "resolve"]\n`;
    writeFileSync(join(configured, 'hosts.toml'), mirror);
  }
  return async () => {
    server.closeAllConnections();
    server.close();
  };
}
