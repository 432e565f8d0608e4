/** The thread of the SSH gateway: puts the gateway's server and an agent link of its own together. */
import { parentPort, workerData } from 'node:worker_threads';
import { MainThread } from './gateways/ssh/main-thread.ts';
import type { GatewaySettings } from './gateways/ssh/messages.ts';
import { GatewayServer } from './gateways/ssh/server.ts';

if (!parentPort) throw new Error('This is a thread of the service, and no program.');
const main = new MainThread(parentPort, () => void server.close());
const server = new GatewayServer({
  main,
  settings: workerData as GatewaySettings,
  async loadAgent() {
    const { createAgentLink } = await import('./agent-link/agent-link.ts');
    return createAgentLink({ openChannel: (key) => main.openChannel(key) });
  },
});
server.listen();
