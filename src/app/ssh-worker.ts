/** Thread of the SSH gateway: wires the gateway's server with an agent link of its own. */
import { parentPort, workerData } from 'node:worker_threads';
import { createAgentLink } from '../agent-link/agent-link.ts';
import type { GatewaySettings } from '../gateways/ssh/messages.ts';
import { MainThread } from '../gateways/ssh/worker/main-thread.ts';
import { GatewayServer } from '../gateways/ssh/worker/server.ts';

if (!parentPort) throw new Error('This file runs only as a thread of the service.');
const main = new MainThread(parentPort);
const agent = createAgentLink({ openChannel: (key) => main.openChannel(key) });
const { hostKey } = workerData as GatewaySettings;
// A defect that one client meets must not end the connections of all others.
process.on('uncaughtException', (error) => main.log.error('a defect in the SSH gateway', { error }));
new GatewayServer({ main, hostKey, agent });
