/** Where an agent is reached, on either transport. */
import { connect, type Socket } from 'node:net';
import type { Duplex } from 'node:stream';
import type { CertifiedKey } from '../../src/agent-link/authority.ts';
import { type AgentAddress, createConnector } from '../../src/agent-link/connector.ts';

export type Reach = { socketPath: string } | NetworkReach;

export interface NetworkReach {
  agent: AgentAddress;
  /** Certificate of the installation's authority. */
  authority: string;
  service: CertifiedKey;
}

export function channelsTo(reach: Reach): () => Promise<Duplex> {
  if ('socketPath' in reach) return () => connectTo(reach.socketPath);
  const connector = createConnector(reach.authority, reach.service);
  return () => connector.open(reach.agent);
}

function connectTo(path: string): Promise<Socket> {
  return new Promise((resolve, reject) => {
    const socket = connect(path);
    socket.once('error', reject);
    socket.once('connect', () => {
      socket.off('error', reject);
      resolve(socket);
    });
  });
}
