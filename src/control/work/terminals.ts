/**
 * Terminals of a sandbox, which go on without viewers, and connections to its ports. The agent inside holds them; a
 * viewer is a use while it looks, and a connection while it lasts.
 */
import type { Duplex } from 'node:stream';
import type { Sandbox } from '../../model/sandbox.ts';
import type { User } from '../../model/user.ts';
import type {
  AgentTerminals,
  AgentTunnels,
  AsUser,
  SandboxStore,
  TerminalSize,
  TerminalSummary,
  TerminalView,
} from '../ports/index.ts';
import type { Environments } from '../reach/environment.ts';
import { resolveSandbox } from '../turns/resolve.ts';
import { folderOf, type SandboxUses, userOf, withShell } from './sandbox-uses.ts';

export interface TerminalDependencies {
  store: SandboxStore;
  uses: Pick<SandboxUses, 'run' | 'connected'>;
  agent: AgentTerminals;
  environments: Pick<Environments, 'of'>;
}

export interface LookRequest extends AsUser {
  terminalId: string;
  /** null for a viewer that shows whatever size there is. */
  size: TerminalSize | null;
  /** false: rejects with `not_found` where there is no such terminal. */
  create: boolean;
  /** Folder of a new terminal; by default the sandbox root, or the home of its user. */
  cwd?: string;
  /** More environment of a new terminal. */
  env?: Record<string, string>;
}

export class TerminalService {
  readonly #deps: TerminalDependencies;

  constructor(dependencies: TerminalDependencies) {
    this.#deps = dependencies;
  }

  /** Runs `work` with a view of the terminal, and detaches it afterwards. A stop of the sandbox breaks the view. */
  async look(
    caller: User,
    reference: string,
    request: LookRequest,
    work: (view: TerminalView) => Promise<void>,
    signal: AbortSignal,
  ): Promise<void> {
    const { store, uses } = this.#deps;
    const { id } = await resolveSandbox(store, caller, reference);
    await uses.connected(id, async (sandbox) => {
      const view = await this.#open(sandbox, request, signal);
      try {
        await work(view);
      } finally {
        view.detach();
      }
    });
  }

  list(caller: User, reference: string): Promise<TerminalSummary[]> {
    const { uses, agent } = this.#deps;
    return uses.run(caller, reference, async ({ id }) => (await agent.listTerminals(id)).terminals);
  }

  /** Ends a terminal with all that runs in it. */
  end(caller: User, reference: string, terminalId: string, signal?: AbortSignal): Promise<void> {
    const { uses, agent } = this.#deps;
    return uses.run(caller, reference, ({ id }) => agent.endTerminal(id, terminalId, signal));
  }

  async #open(
    sandbox: Sandbox,
    { terminalId, size, create, cwd, env = {}, ...call }: LookRequest,
    signal: AbortSignal,
  ): Promise<TerminalView> {
    const { agent, environments } = this.#deps;
    if (!create) return agent.openTerminal(sandbox.id, { terminalId, size, create: null }, signal);
    const user = userOf(sandbox, call);
    const own = await environments.of(sandbox, { user });
    return withShell((shell) => {
      const account = user === undefined ? rootAt(shell) : {};
      const program = {
        argv: [shell, '-l'],
        cwd: folderOf(sandbox, cwd),
        env: { ...account, ...own, TERM: 'xterm-256color', ...env },
      };
      return agent.openTerminal(sandbox.id, { user, terminalId, size, create: program }, signal);
    });
  }
}

function rootAt(shell: string): Record<string, string> {
  return { USER: 'root', LOGNAME: 'root', SHELL: `/bin/${shell}` };
}

/** Connections of the owner to ports of the sandbox's own loopback, each a use of the sandbox while it lasts. */
interface TunnelDependencies {
  store: SandboxStore;
  uses: Pick<SandboxUses, 'connected'>;
  agent: Pick<AgentTunnels, 'connectPort'>;
}

export class TunnelService {
  readonly #deps: TunnelDependencies;

  constructor(dependencies: TunnelDependencies) {
    this.#deps = dependencies;
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
    const { store, uses, agent } = this.#deps;
    const sandbox = await resolveSandbox(store, caller, reference);
    await uses.connected(sandbox.id, async ({ id }) => work(await agent.connectPort(id, port, signal)));
  }
}
