/** Code and commands in a sandbox. */
import { SandhavenError } from '../model/errors.ts';
import type { Sandbox } from '../model/sandbox.ts';
import type { User } from '../model/user.ts';
import { environment } from './environment.ts';
import type { AgentLink, Chart, ExecResult, Images } from './ports.ts';
import type { Uses } from './use.ts';

const SHELLS = ['bash', 'sh'];

export class ExecutionService {
  readonly #uses: Uses;
  readonly #agent: AgentLink;
  readonly #images: Images;

  constructor(uses: Uses, agent: AgentLink, images: Images) {
    this.#uses = uses;
    this.#agent = agent;
    this.#images = images;
  }

  /** A command that outlives its timeout is a result (`timedOut`), not an error. */
  runCommand(
    caller: User,
    reference: string | undefined,
    request: { command: string; cwd?: string; env: Record<string, string>; timeoutMs: number },
    signal?: AbortSignal,
  ): Promise<ExecResult> {
    return this.#uses.run(caller, reference, async (sandbox) => {
      const { command, cwd = '.', timeoutMs } = request;
      const env = await this.#environment(sandbox, request.env);
      for (const shell of SHELLS) {
        try {
          return await this.#agent.exec(
            sandbox.id,
            { argv: [shell, '-c', command], cwd, env, timeoutMs },
            signal,
          );
        } catch (error) {
          if (!isMissingProgram(error)) throw error;
        }
      }
      throw new SandhavenError('failed_precondition', "The sandbox's image has neither bash nor sh.", {
        hint: 'Create the sandbox from an image that has a shell.',
      });
    });
  }

  /** Runs in the interpreter of the sandbox's language. `failed_precondition` when the image lacks it. */
  runCode(
    caller: User,
    reference: string | undefined,
    request: { code: string; timeoutMs: number },
    signal?: AbortSignal,
  ): Promise<ExecResult & { charts: Chart[] }> {
    return this.#uses.run(caller, reference, async (sandbox) =>
      this.#agent.runCode(
        sandbox.id,
        {
          language: sandbox.language,
          code: request.code,
          env: await this.#environment(sandbox, {}),
          timeoutMs: request.timeoutMs,
        },
        signal,
      ),
    );
  }

  async #environment(sandbox: Sandbox, call: Record<string, string>): Promise<Record<string, string>> {
    return environment(await this.#images.get(sandbox.imageDigest), sandbox, call);
  }
}

function isMissingProgram(error: unknown): boolean {
  return error instanceof SandhavenError && error.fields.resource === 'interpreter';
}
