/**
 * Visits to sandboxes over SSH. A visit begins with a valid token, counts as a use of the sandbox while it lasts, and
 * ends when the token expires or is revoked, or the machine is gone: "a token gives access until it expires, and none
 * after" holds for open connections too.
 */
import type { Duplex } from 'node:stream';
import { at } from '../../concurrency/deadline.ts';
import { type Load, Shares } from '../../fairness/shares.ts';
import { type AuditOutcome, auditActions } from '../../model/audit.ts';
import { isDefect, SandhavenError } from '../../model/errors.ts';
import { limits } from '../../model/limits.ts';
import type { AuditService } from '../audit/audit.ts';
import { visitorOf } from '../audit/preview-grants.ts';
import type { AccessToken, AgentLink, AsUser, Clock, Log, Runtime } from '../ports/index.ts';
import type { Environments } from '../reach/environment.ts';
import { type SandboxUses, userOf } from '../work/sandbox-uses.ts';
import type { AccessService } from './tokens.ts';

/** The user is the sandbox's. */
export interface SshVisit extends AsUser {
  tokenId: string;
  sandboxId: string;
  env: Record<string, string>;
  /** The reason why the visit can do nothing in the sandbox; null when it can. */
  refusal: string | null;
  /** Resolves when the visit ends before `leave`, with the reason for the client. */
  ended: Promise<string>;
  /** Opens a new byte stream to the agent; `leave` destroys it. */
  openChannel(): Promise<Duplex>;
  leave(): void;
}

export interface VisitDependencies {
  tokens: Pick<AccessService, 'check' | 'whileGranted' | 'rightOf'>;
  uses: Pick<SandboxUses, 'connected'>;
  agent: Pick<AgentLink, 'watch'>;
  runtime: Pick<Runtime, 'openChannel'>;
  environments: Pick<Environments, 'of'>;
  audit: Pick<AuditService, 'note'>;
  clock: Clock;
  log: Log;
}

export class SshVisits {
  readonly #parts: VisitDependencies;
  readonly #open = new Map<string, Set<Visit>>();
  readonly #shares = new Shares({
    total: limits.ssh.connections,
    perOwner: limits.ssh.connectionsPerOwner,
    what: 'SSH connections are open',
  });

  constructor(parts: VisitDependencies) {
    this.#parts = parts;
  }

  /** Open connections. */
  get load(): Load {
    return this.#shares;
  }

  /**
   * Accepts the token as the password of the sandbox's id, or alone as the user name. Returns null for an invalid
   * token.
   */
  async enter(username: string, password: string | null, address: string | null): Promise<SshVisit | null> {
    const token = await this.#tokenOf(username, password);
    if (!token) return null;
    const id = token.sandboxId;
    const others = this.#open.get(id) ?? new Set<Visit>();
    const visit = new Visit(this.#parts, this.#shares, token, address);
    if (others.size >= limits.ssh.connectionsPerSandbox) {
      const refusal = `${others.size} SSH connections to the sandbox are open. Close one of them.`;
      visit.refuse(new SandhavenError('resource_exhausted', refusal));
      return visit;
    }
    this.#open.set(id, others.add(visit));
    void visit.left.then(() => {
      others.delete(visit);
      if (others.size === 0 && this.#open.get(id) === others) this.#open.delete(id);
    });
    await visit.begin(() => [...others].reduce((sum, { channels }) => sum + channels, 0));
    return visit;
  }

  async #tokenOf(username: string, password: string | null): Promise<AccessToken | null> {
    const { tokens } = this.#parts;
    const alone = await tokens.check('ssh', username);
    if (alone || password === null) return alone;
    const token = await tokens.check('ssh', password);
    return token?.sandboxId === username ? token : null;
  }
}

class Visit implements SshVisit {
  readonly tokenId: string;
  readonly sandboxId: string;
  readonly ended: Promise<string>;
  readonly left: Promise<void>;
  user: string | undefined;
  env: Record<string, string> = {};
  refusal: string | null = null;
  readonly #parts: VisitDependencies;
  /** Shares of all connections, by owner. */
  readonly #shares: Shares;
  readonly #token: AccessToken;
  readonly #address: string | null;
  readonly #begun = performance.now();
  #ownerId: string | null = null;
  readonly #left = new AbortController();
  /** Reason why the visit ended before `leave`. */
  #over: string | null = null;
  readonly #channels = new Set<Duplex>();
  /** Channels that are being opened count: many requests may come before the first has its channel. */
  #opening = 0;
  #callOffExpiry: () => void = () => {};
  #end: (reason: string) => void = () => {};
  #leave: () => void = () => {};
  #channelsOfAll: () => number = () => 0;

  constructor(parts: VisitDependencies, shares: Shares, token: AccessToken, address: string | null) {
    this.#parts = parts;
    this.#shares = shares;
    this.#token = token;
    this.#address = address;
    this.tokenId = token.id;
    this.sandboxId = token.sandboxId;
    this.ended = new Promise((resolve) => {
      this.#end = resolve;
    });
    this.left = new Promise((resolve) => {
      this.#leave = resolve;
    });
  }

  get channels(): number {
    return this.#channels.size + this.#opening;
  }

  refuse(error: unknown): void {
    this.#note(auditActions.sshLogin, error instanceof SandhavenError ? error.code : 'internal');
    this.refusal = wordsOf(error);
    this.leave();
  }

  /** Resolves once the sandbox counts as in use, or has refused the visit. */
  async begin(channelsOfAll: () => number): Promise<void> {
    this.#channelsOfAll = channelsOfAll;
    // Registered before the first wait: the token was valid a moment ago.
    const { tokens } = this.#parts;
    const revoked = 'The access token was revoked; get another with Sandbox.CreateSshAccess.';
    const end = () => this.#finish(revoked);
    const stop = tokens.whileGranted('ssh', this.sandboxId, end, tokens.rightOf(this.#token));
    void this.left.then(stop);
    await new Promise<void>((entered) => {
      this.#parts.uses
        .connected(
          this.sandboxId,
          async (sandbox) => {
            const leave = this.#shares.take(sandbox.ownerId ?? '');
            void this.left.then(() => leave());
            this.user = userOf(sandbox);
            this.env = await this.#parts.environments.of(sandbox, { user: this.user });
            if (this.#over !== null) throw new SandhavenError('permission_denied', this.#over);
            this.#ownerId = sandbox.ownerId;
            this.#watch(sandbox.name);
            this.#note(auditActions.sshLogin, 'ok');
            entered();
            await this.left;
            this.#note(auditActions.sshLogout, 'ok');
          },
          () => this.#finish("The sandbox's owner was disabled."),
        )
        .catch((error: unknown) => {
          if (isDefect(error, this.#left.signal.aborted))
            this.#parts.log.error('an SSH visit failed', { error });
          this.refuse(error);
          entered();
        });
    });
  }

  async openChannel(): Promise<Duplex> {
    if (this.refusal !== null || this.#left.signal.aborted) throw over();
    if (this.#channelsOfAll() >= limits.ssh.agentChannelsPerSandbox) {
      throw new SandhavenError('resource_exhausted', 'Too much is open over SSH in the sandbox.', {
        hint: 'Close some of the programs and forwarded connections.',
        retryable: true,
      });
    }
    const channel = await this.#open();
    if (!this.#left.signal.aborted) return channel;
    channel.on('error', () => {});
    channel.destroy();
    throw over();
  }

  async #open(): Promise<Duplex> {
    this.#opening += 1;
    try {
      const channel = await this.#parts.runtime.openChannel(this.sandboxId);
      channel.once('close', () => this.#channels.delete(channel));
      this.#channels.add(channel);
      return channel;
    } finally {
      this.#opening -= 1;
    }
  }

  leave(): void {
    if (this.#left.signal.aborted) return;
    this.#left.abort();
    this.#callOffExpiry();
    for (const channel of this.#channels) channel.destroy();
    this.#leave();
  }

  #note(action: string, outcome: AuditOutcome): void {
    const subject = {
      action,
      caller: visitorOf(this.#ownerId, this.tokenId),
      origin: { transport: 'ssh', address: this.#address },
      requestId: null,
    } as const;
    const durationMs = performance.now() - this.#begun;
    this.#parts.audit.note(subject, { outcome, durationMs, sandboxId: this.sandboxId });
  }

  #finish(reason: string): void {
    this.#over ??= reason;
    this.#end(reason);
  }

  #watch(name: string): void {
    this.#parts.agent.watch(this.sandboxId, this.#left.signal).then(
      () => this.#end(`Sandbox '${name}' was stopped.`),
      () => this.#end(`Sandbox '${name}' cannot be reached.`),
    );
    const { expiresAt } = this.#token;
    if (expiresAt === null) return;
    this.#callOffExpiry = at(this.#parts.clock, expiresAt, () =>
      this.#end('The access token has expired; get another with Sandbox.CreateSshAccess.'),
    );
  }
}

function over(): SandhavenError {
  return new SandhavenError('failed_precondition', 'The SSH connection is over.');
}

function wordsOf(error: unknown): string {
  if (!(error instanceof SandhavenError)) return 'An internal error occurred.';
  return [error.message, error.fields.hint].filter(Boolean).join(' ');
}
