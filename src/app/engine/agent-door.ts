/** Certificates of agents on a network, and the service's connections to them. */
import {
  type CertifiedKey,
  certifySandbox,
  certifyService,
  serviceIdentity,
} from '../../agent-link/authority.ts';
import { createConnector } from '../../agent-link/connector.ts';
import type { Clock } from '../../control/ports/index.ts';
import { AGENT_PORT, type AgentDoor } from '../../runtime/kubernetes/client/settings.ts';

export function createAgentDoor(authority: CertifiedKey, instance: string, clock: Clock): AgentDoor {
  const own = certifyService(authority, instance, clock.now());
  const connector = createConnector(authority.certificate, own);
  return {
    service: serviceIdentity(instance),

    credentialsFor(id, generation) {
      const { certificate, key } = certifySandbox(authority, id, generation, clock.now());
      return { 'tls.key': key, 'tls.crt': certificate, 'ca.crt': authority.certificate };
    },

    connect: (host, sandboxId, generation, starting) =>
      connector.open({ host, port: AGENT_PORT, sandboxId, generation }, starting),
  };
}
