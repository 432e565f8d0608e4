/** The thread of the SSH gateway: puts the gateway's server and an agent link of its own together. */
import { parentPort, workerData } from 'node:worker_threads';
import { createAgentLink } from '../agent-link/agent-link.ts';
import type { GatewaySettings } from '../gateways/ssh/messages.ts';
import { MainThread } from '../gateways/ssh/worker/main-thread.ts';
import { GatewayServer } from '../gateways/ssh/worker/server.ts';

if (!parentPort) throw new Error('This is a thread of the service, and no program.');
const main = new MainThread(parentPort);
const agent = createAgentLink({ openChannel: (key) => main.openChannel(key) });
const { hostKey } = workerData as GatewaySettings;
// A defect that one client meets must not end the connections of all others.
process.on('uncaughtException', (error) => main.log.error('a defect in the SSH gateway', { error }));
new GatewayServer({ main, hostKey, agent });
