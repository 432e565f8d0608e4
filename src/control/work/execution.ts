/** Code and commands in a sandbox. */
import type { Sandbox } from '../../model/sandbox.ts';
import type { User } from '../../model/user.ts';
import type { AgentLink, AsUser, Chart, ExecResult, LiveOutput, LiveRequest } from '../ports/index.ts';
import type { Environments } from '../reach/environment.ts';
import { folderOf, type SandboxUses, userOf, withShell } from './sandbox-uses.ts';

export class ExecutionService {
  readonly #uses: SandboxUses;
  readonly #agent: AgentLink;
  readonly #environments: Environments;

  constructor(uses: SandboxUses, agent: AgentLink, environments: Environments) {
    this.#uses = uses;
    this.#agent = agent;
    this.#environments = environments;
  }

  /**
   * A command that outlives its timeout is a result (`timedOut`), not an error.
   * @param request `live` receives output while it runs, unless the sandbox's agent is too old for that.
   */
  runCommand(
    caller: User,
    reference: string | undefined,
    request: AsUser & {
      command: string;
      cwd?: string;
      env: Record<string, string>;
      timeoutMs: number;
      live?: LiveOutput;
    },
    signal?: AbortSignal,
  ): Promise<ExecResult> {
    return this.#uses.run(caller, reference, async (sandbox) => {
      const { command, timeoutMs } = request;
      const cwd = folderOf(sandbox, request.cwd);
      const user = userOf(sandbox, request);
      const env = await this.#environments.of(sandbox, { user, env: request.env });
      const live = liveOf(sandbox, request.live);
      return withShell((shell) =>
        this.#agent.exec(
          sandbox.id,
          { user, argv: [shell, '-c', command], cwd, env, timeoutMs, live },
          signal,
        ),
      );
    });
  }

  /**
   * Runs code in the interpreter of the sandbox's language. Rejects with `failed_precondition` when the image lacks it.
   */
  runCode(
    caller: User,
    reference: string | undefined,
    request: AsUser & { code: string; timeoutMs: number; live?: LiveOutput },
    signal?: AbortSignal,
  ): Promise<ExecResult & { charts: Chart[] }> {
    return this.#uses.run(caller, reference, async (sandbox) => {
      const user = userOf(sandbox, request);
      return this.#agent.runCode(
        sandbox.id,
        {
          user,
          language: sandbox.language,
          code: request.code,
          env: await this.#environments.of(sandbox, { user }),
          timeoutMs: request.timeoutMs,
          live: liveOf(sandbox, request.live),
        },
        signal,
      );
    });
  }
}

function liveOf(sandbox: Sandbox, output: LiveOutput | undefined): LiveRequest | undefined {
  return output && { output, generation: sandbox.runGeneration ?? sandbox.generation };
}
