/**
 * Trust of programs inside in the certificate under which requests with secrets leave. It is a file of the sandbox's disk,
 * written anew at each start; programs that do not trust it send no request to a secret's hosts.
 */
import type { Unfinished } from '../../concurrency/unfinished.ts';
import { type ErrorCode, SandhavenError } from '../../model/errors.ts';
import type { Sandbox } from '../../model/sandbox.ts';
import type { AgentLink, Log, Runtime } from '../ports/index.ts';
import type { Networked, Networks } from './networks.ts';

export interface SandboxTrustDependencies {
  runtime: Pick<Runtime, 'authority'>;
  agent: Pick<AgentLink, 'trust'>;
  /** Runs work in the sandbox's turn, with its settled row. Rejects with `not_found` once it is gone. */
  inTurn(id: string, work: (sandbox: Sandbox) => Promise<void>): Promise<unknown>;
  networks: Pick<Networks, 'apply'>;
  unfinished: Pick<Unfinished, 'add'>;
  log: Log;
}

type Trusting = Pick<Sandbox, 'id' | 'secretIds'>;

/** Faults that the sandbox's owner mends, such as a full disk: another try follows with the next start or GiveSecret. */
const ITS_OWN: ReadonlySet<ErrorCode> = new Set([
  'failed_precondition',
  'invalid_argument',
  'resource_exhausted',
]);

export class SandboxTrust {
  readonly #deps: SandboxTrustDependencies;

  constructor(dependencies: SandboxTrustDependencies) {
    this.#deps = dependencies;
  }

  /** Does nothing for a sandbox without secrets, and where the engine has no certificate of its own. */
  async put({ id, secretIds }: Trusting): Promise<void> {
    if (secretIds.length === 0) return;
    const { runtime, agent } = this.#deps;
    const certificate = runtime.authority(id);
    if (certificate !== null) await agent.trust(id, certificate);
  }

  /** Like `put`, for a start, which does not fail with it: the owner could never clean up. */
  async keep(sandbox: Trusting): Promise<void> {
    await this.put(sandbox).catch((error: unknown) => this.#later(sandbox.id, error));
  }

  /** Puts the secrets of a sandbox in force, if it runs, once programs inside trust. Rejects with `unavailable`. */
  async apply(sandbox: Networked & Pick<Sandbox, 'state'>): Promise<void> {
    if (sandbox.state !== 'started') return;
    try {
      await this.put(sandbox);
    } catch (error) {
      this.#later(sandbox.id, error);
      throw notTrusted(error);
    }
    await this.#deps.networks.apply(sandbox);
  }

  #later(id: string, error: unknown): void {
    const { unfinished, log } = this.#deps;
    log.warn('a sandbox does not trust the certificate of its secrets', { sandbox: id, error });
    const isItsOwn = error instanceof SandhavenError && ITS_OWN.has(error.code);
    if (!isItsOwn) unfinished.add(`certificate of ${id}`, () => this.#again(id));
  }

  async #again(id: string): Promise<void> {
    const put = async (sandbox: Sandbox) => {
      if (sandbox.state !== 'started') return;
      await this.put(sandbox);
      await this.#deps.networks.apply(sandbox);
    };
    await this.#deps.inTurn(id, put).catch((error: unknown) => {
      const isGone = error instanceof SandhavenError && error.code === 'not_found';
      if (!isGone) throw error;
    });
  }
}

function notTrusted(cause: unknown): SandhavenError {
  const why = cause instanceof SandhavenError ? ` ${cause.message}` : '';
  return new SandhavenError(
    'unavailable',
    `The secret is stored, and programs inside do not trust the certificate of its requests yet.${why}`,
    { hint: 'Repeat the call; if it fails again, stop the sandbox and start it.' },
    cause,
  );
}
