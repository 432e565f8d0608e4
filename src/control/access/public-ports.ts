/** Ports of a sandbox that its owner opens to everybody, at the addresses of previews; where the operator allows it. */
import { SandhavenError } from '../../model/errors.ts';
import type { PublicPorts } from '../../model/sandbox-access.ts';
import type { User } from '../../model/user.ts';
import type { SandboxStore } from '../ports/index.ts';
import { resolveSandbox } from '../turns/resolve.ts';
import type { AccessService } from './tokens.ts';

export interface PublicPortDependencies {
  sandboxes: Pick<SandboxStore, 'find' | 'names'>;
  access: Pick<AccessService, 'publicPorts' | 'setPublicPorts'>;
  mayBePublic: boolean;
}

interface PublicPortsOf {
  sandboxId: string;
  ports: PublicPorts;
}

export class PublicPortService {
  readonly #deps: PublicPortDependencies;

  constructor(dependencies: PublicPortDependencies) {
    this.#deps = dependencies;
  }

  /** true: the operator lets owners open ports. */
  get isAllowed(): boolean {
    return this.#deps.mayBePublic;
  }

  /** Returns what is open, which is nothing where the operator allows none. */
  async of(caller: User, reference: string): Promise<PublicPortsOf> {
    const { id: sandboxId } = await resolveSandbox(this.#deps.sandboxes, caller, reference);
    return { sandboxId, ports: this.isAllowed ? await this.#deps.access.publicPorts(sandboxId) : [] };
  }

  /** Returns true where every port is open. */
  async isOpen(sandboxId: string): Promise<boolean> {
    return this.isAllowed && (await this.#deps.access.publicPorts(sandboxId)) === 'all';
  }

  /** Opens exactly these ports, in any state of the sandbox; closing them is always allowed. */
  async set(caller: User, reference: string, ports: PublicPorts): Promise<PublicPortsOf> {
    const { id: sandboxId } = await resolveSandbox(this.#deps.sandboxes, caller, reference);
    if (ports.length > 0 && !this.isAllowed) throw notAllowed();
    await this.#deps.access.setPublicPorts(sandboxId, ports);
    return { sandboxId, ports };
  }
}

function notAllowed(): SandhavenError {
  return new SandhavenError('permission_denied', 'No port is open to everybody here.', {
    parameter: 'ports',
    hint: 'The operator allows it with `up --public-ports yes`; a signed preview URL opens one port to whoever has it.',
  });
}
