/** Connections of the owner to ports of the sandbox's own loopback, each a use of the sandbox while it lasts. */
import type { Duplex } from 'node:stream';
import type { User } from '../../model/user.ts';
import type { AgentTunnels, SandboxStore } from '../ports/index.ts';
import { resolveSandbox } from '../turns/resolve.ts';
import type { Uses } from './use.ts';

export interface TunnelDependencies {
  store: SandboxStore;
  uses: Pick<Uses, 'connected'>;
  agent: Pick<AgentTunnels, 'connectPort'>;
}

export class TunnelService {
  readonly #d: TunnelDependencies;

  constructor(dependencies: TunnelDependencies) {
    this.#d = dependencies;
  }

  /**
   * Runs `work` with a connection that `work` ends. A stop of the sandbox breaks it. Rejects with `not_found` (resource
   * `port`) when nothing listens there.
   */
  async visit(
    caller: User,
    reference: string,
    port: number,
    work: (connection: Duplex) => Promise<void>,
    signal: AbortSignal,
  ): Promise<void> {
    const { store, uses, agent } = this.#d;
    const sandbox = await resolveSandbox(store, caller, reference);
    await uses.connected(sandbox.id, async ({ id }) => work(await agent.connectPort(id, port, signal)));
  }
}
