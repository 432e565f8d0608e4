/** Processes of a sandbox that outlive the call that starts them; the agent inside holds them. */
import { limits } from '../../model/limits.ts';
import type { User } from '../../model/user.ts';
import type {
  AgentDetached,
  AsUser,
  DetachedEnd,
  DetachedSink,
  DetachedSummary,
  TerminalSize,
} from '../ports/index.ts';
import type { Environments } from '../reach/environment.ts';
import { folderOf, type SandboxUses, userOf, withShell } from './sandbox-uses.ts';

export interface StartRequest extends AsUser {
  command: string;
  cwd?: string | undefined;
  env: Record<string, string>;
  tag?: string | undefined;
  timeoutMs: number;
  terminal?: TerminalSize | undefined;
}

interface ProcessDependencies {
  uses: Pick<SandboxUses, 'run' | 'connected' | 'find'>;
  agent: AgentDetached;
  environments: Pick<Environments, 'of'>;
}

export class ProcessService {
  readonly #deps: ProcessDependencies;

  constructor(dependencies: ProcessDependencies) {
    this.#deps = dependencies;
  }

  start(
    caller: User,
    reference: string,
    { command, cwd, tag, timeoutMs, terminal, ...call }: StartRequest,
    signal?: AbortSignal,
  ): Promise<DetachedSummary> {
    const { uses, agent, environments } = this.#deps;
    return uses.run(caller, reference, async (sandbox) => {
      const user = userOf(sandbox, call);
      const ofTerminal = terminal ? { TERM: 'xterm-256color' } : {};
      const env = { ...(await environments.of(sandbox, { user })), ...ofTerminal, ...call.env };
      const label = command.slice(0, limits.detached.labelChars).toWellFormed();
      const request = {
        user,
        cwd: folderOf(sandbox, cwd),
        env,
        tag,
        label,
        timeoutMs,
        ...(terminal ? { terminal } : {}),
      };
      const started = await withShell((shell) =>
        agent.startDetached(sandbox.id, { ...request, argv: [shell, '-c', command] }, signal),
      );
      const fresh = { viewers: 0, outputBytes: 0, end: null };
      return { ...started, tag: tag ?? null, label, terminal: terminal ?? null, ...fresh };
    });
  }

  list(caller: User, reference: string): Promise<DetachedSummary[]> {
    return this.#deps.uses.run(
      caller,
      reference,
      async ({ id }) => (await this.#deps.agent.listDetached(id)).processes,
    );
  }

  /** Shows output until the process ends. A stop of the sandbox breaks the view, and aborting the signal leaves it. */
  async view(
    caller: User,
    reference: string,
    view: { process: string; from: number | null },
    sink: DetachedSink,
    signal: AbortSignal,
  ): Promise<DetachedEnd> {
    const { id } = await this.#deps.uses.find(caller, reference);
    return this.#deps.uses.connected(id, () => this.#deps.agent.viewDetached(id, view, sink, signal));
  }

  write(
    caller: User,
    reference: string,
    { process, bytes, close }: { process: string; bytes: Buffer; close: boolean },
    signal?: AbortSignal,
  ): Promise<void> {
    return this.#deps.uses.run(caller, reference, ({ id }) =>
      this.#deps.agent.writeDetached(id, process, bytes, { close }, signal),
    );
  }

  signal(caller: User, reference: string, process: string, name: string): Promise<void> {
    return this.#deps.uses.run(caller, reference, ({ id }) =>
      this.#deps.agent.signalDetached(id, process, name),
    );
  }

  resize(caller: User, reference: string, process: string, size: TerminalSize): Promise<void> {
    return this.#deps.uses.run(caller, reference, ({ id }) =>
      this.#deps.agent.resizeDetached(id, process, size),
    );
  }

  /** Kills the process with all that it has started; an ended one is only forgotten. */
  end(caller: User, reference: string, process: string, signal?: AbortSignal): Promise<void> {
    return this.#deps.uses.run(caller, reference, ({ id }) =>
      this.#deps.agent.endDetached(id, process, signal),
    );
  }
}
