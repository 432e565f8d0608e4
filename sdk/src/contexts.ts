/** Contexts of a sandbox: interpreters that keep the variables of the code that they ran. */
import type { CallOptions } from './call.ts';
import type { RequestOptions } from './connection.ts';
import { isSandhavenError } from './errors.ts';
import type { RunInContextParameters, RunInContextResult, Sandhaven } from './generated.ts';
import { apart, type HandleOptions } from './handle-options.ts';

export type ContextLanguage = 'python' | 'javascript' | 'typescript' | 'bash';

export interface ContextOptions extends RequestOptions {
  /** By default the sandbox's. */
  language?: ContextLanguage;
  /** Id; by default a new one. */
  id?: string;
  /** Where it starts; /workspace or the user's home by default. */
  cwd?: string;
  /** Linux user; by default the sandbox's. */
  user?: string;
  /** Most memory of each of its processes, in MiB; by default what the sandbox has. */
  memoryMb?: number;
}

export interface ContextInfo {
  /** Its id. */
  context: string;
  language: ContextLanguage;
  /** null for root. */
  user: string | null;
  cwd: string;
  memory_mb: number | null;
  created_at: string;
  /** How often code ran in it. */
  runs: number;
  /** Code runs in it. */
  busy: boolean;
  /** Why it has ended by itself; null while it lives. */
  ended: string | null;
}

export type ContextRunOptions = HandleOptions<
  RunInContextParameters,
  'sandbox' | 'context' | 'code' | 'language' | 'user' | 'cwd' | 'memory_mb'
>;

/** Creates and finds the contexts of one sandbox. */
export class Contexts {
  readonly #client: Sandhaven;
  readonly #sandbox: string;

  constructor(client: Sandhaven, sandbox: string) {
    this.#client = client;
    this.#sandbox = sandbox;
  }

  /** Starts one; resolves when it waits for code. */
  async create(options: ContextOptions = {}): Promise<CodeContext> {
    const { language, id, cwd, user, memoryMb, ...request } = options;
    const parameters = { sandbox: this.#sandbox, language, context: id, cwd, user, memory_mb: memoryMb };
    const made = await this.#client.administration.call<ContextInfo>('CreateContext', parameters, request);
    return this.get(made.context);
  }

  /** Oldest first, also those that have ended by themselves. */
  async list(options: RequestOptions = {}): Promise<ContextInfo[]> {
    type Listed = { contexts: ContextInfo[] };
    const parameters = { sandbox: this.#sandbox };
    return (await this.#client.administration.call<Listed>('ListContexts', parameters, options)).contexts;
  }

  /** One that exists, by its id; asks for nothing. */
  get(id: string): CodeContext {
    return new CodeContext(this.#client, this.#sandbox, id);
  }
}

/** One context. `await using` deletes it at the end of its block. */
export class CodeContext {
  readonly id: string;
  readonly #client: Sandhaven;
  readonly #sandbox: string;

  constructor(client: Sandhaven, sandbox: string, id: string) {
    this.id = id;
    this.#client = client;
    this.#sandbox = sandbox;
  }

  /** Runs code with the variables of the runs before. An error of the code is a part of the result. */
  run(code: string, options: ContextRunOptions = {}): Promise<RunInContextResult> {
    const [parameters, call] = apart<Omit<ContextRunOptions, keyof CallOptions>>(options);
    return this.#client.runInContext({ ...parameters, code, sandbox: this.#sandbox, context: this.id }, call);
  }

  /** Interrupts the code that runs, as Ctrl-C does; its variables stay. Returns false where none ran. */
  async interrupt(options?: RequestOptions): Promise<boolean> {
    return (await this.#act<{ interrupted: boolean }>('InterruptContext', options)).interrupted;
  }

  /** Starts it anew, without its variables. */
  restart(options?: RequestOptions): Promise<ContextInfo> {
    return this.#act('RestartContext', options);
  }

  /** Kills it with all that it has started. */
  async delete(options?: RequestOptions): Promise<void> {
    await this.#act('DeleteContext', options);
  }

  /** Deletes it; one that is gone is no error. */
  async [Symbol.asyncDispose](): Promise<void> {
    try {
      await this.delete();
    } catch (error) {
      if (!isSandhavenError(error, 'not_found')) throw error;
    }
  }

  #act<Result>(action: string, options: RequestOptions = {}): Promise<Result> {
    const parameters = { sandbox: this.#sandbox, context: this.id };
    return this.#client.administration.call<Result>(action, parameters, options);
  }
}
