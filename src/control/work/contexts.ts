/** Contexts of a sandbox: interpreters that keep variables between calls; the agent inside holds them. */
import { concerns, notFound } from '../../model/errors.ts';
import { newContextId } from '../../model/ids.ts';
import type { ContextLanguage, Sandbox } from '../../model/sandbox.ts';
import type { User } from '../../model/user.ts';
import type { AgentContexts, AsUser, ContextResult, ContextSummary, LiveOutput } from '../ports/index.ts';
import type { Environments } from '../reach/environment.ts';
import { folderOf, type SandboxUses, userOf } from './sandbox-uses.ts';

/** A context that is yet to be made; absent parts are the sandbox's own. */
export interface ContextOptions extends AsUser {
  language?: ContextLanguage | undefined;
  cwd?: string | undefined;
  memoryMb?: number | null | undefined;
}

interface ContextDependencies {
  uses: Pick<SandboxUses, 'run'>;
  agent: AgentContexts;
  environments: Pick<Environments, 'of'>;
}

export class ContextService {
  readonly #deps: ContextDependencies;

  constructor(dependencies: ContextDependencies) {
    this.#deps = dependencies;
  }

  /** Starts one. Without an id it gets a new one. */
  create(
    caller: User,
    reference: string | undefined,
    { contextId, ...options }: ContextOptions & { contextId?: string | undefined },
    signal?: AbortSignal,
  ): Promise<ContextSummary> {
    return this.#deps.uses.run(caller, reference, (sandbox) => {
      const language = options.language ?? sandbox.language;
      return this.#start(sandbox, contextId ?? newContextId(), { ...options, language }, false, signal);
    });
  }

  list(caller: User, reference: string): Promise<ContextSummary[]> {
    return this.#deps.uses.run(caller, reference, ({ id }) => this.#deps.agent.listContexts(id));
  }

  /** Runs code in a context, by default that of the language's name, which is made first where there is none. */
  run(
    caller: User,
    reference: string | undefined,
    request: ContextOptions & {
      contextId?: string | undefined;
      code: string;
      /** Of this run alone. */
      env?: Record<string, string>;
      timeoutMs: number;
      /** Forgets the variables first. */
      restart?: boolean | undefined;
      live?: LiveOutput | undefined;
    },
    signal?: AbortSignal,
  ): Promise<ContextResult & { contextId: string }> {
    return this.#deps.uses.run(caller, reference, async (sandbox) => {
      const { code, env, timeoutMs, live: output, restart: _, ...options } = request;
      const language = request.language ?? sandbox.language;
      const contextId = request.contextId ?? language;
      const live = output && { output, generation: sandbox.runGeneration ?? sandbox.generation };
      if (request.restart) await this.#again(sandbox, contextId, signal);
      const run = () =>
        this.#deps.agent.runInContext(
          sandbox.id,
          { contextId, code, ...(env ? { env } : {}), timeoutMs, live },
          signal,
        );
      const result = await run().catch(async (error: unknown) => {
        if (!concerns(error, 'context')) throw error;
        await this.#start(sandbox, contextId, { ...options, language }, false, signal).catch(
          (failed: unknown) => {
            // Another call has made it meanwhile.
            if (!isCode(failed, 'already_exists')) throw failed;
          },
        );
        return run();
      });
      return { ...result, contextId };
    });
  }

  /** Returns false where no code runs in it. */
  interrupt(caller: User, reference: string, contextId: string): Promise<boolean> {
    return this.#deps.uses.run(caller, reference, ({ id }) =>
      this.#deps.agent.interruptContext(id, contextId),
    );
  }

  /** Starts it anew, as it was made, without its variables. */
  async restart(
    caller: User,
    reference: string,
    contextId: string,
    signal?: AbortSignal,
  ): Promise<ContextSummary> {
    return this.#deps.uses.run(caller, reference, async (sandbox) => {
      const started = await this.#again(sandbox, contextId, signal);
      if (started) return started;
      throw notFound('context', `There is no context '${contextId}'.`, 'Create it.');
    });
  }

  delete(caller: User, reference: string, contextId: string, signal?: AbortSignal): Promise<void> {
    return this.#deps.uses.run(caller, reference, ({ id }) =>
      this.#deps.agent.deleteContext(id, contextId, signal),
    );
  }

  /** Returns null where there is none. */
  async #again(sandbox: Sandbox, contextId: string, signal?: AbortSignal): Promise<ContextSummary | null> {
    const all = await this.#deps.agent.listContexts(sandbox.id);
    const old = all.find((one) => one.contextId === contextId);
    return old ? this.#start(sandbox, contextId, old, true, signal) : null;
  }

  async #start(
    sandbox: Sandbox,
    contextId: string,
    options: ContextOptions & { language: ContextLanguage },
    replace: boolean,
    signal?: AbortSignal,
  ): Promise<ContextSummary> {
    const { language, memoryMb = null } = options;
    const cwd = folderOf(sandbox, options.cwd);
    const user = userOf(sandbox, options);
    const env = await this.#deps.environments.of(sandbox, { user });
    const request = { user, contextId, language, cwd, env, memoryMb, replace };
    const { createdAtMs } = await this.#deps.agent.createContext(sandbox.id, request, signal);
    const fresh = { createdAtMs, runs: 0, busy: false, end: null };
    return { contextId, language, user: user ?? null, cwd, memoryMb, ...fresh };
  }
}

function isCode(error: unknown, code: string): boolean {
  return (error as { code?: unknown }).code === code;
}
