/**
 * Access to sandboxes that their owners ask for: addresses of previews, credentials for SSH, and the revocation of
 * both.
 */

import { invalidArgument, notFound, SandhavenError } from '../../model/errors.ts';
import { type PreviewSite, previewOrigin } from '../../model/network/service-names.ts';
import { readSandboxToken, type WayInside } from '../../model/sandbox-access.ts';
import { type Caller, ownerIdOf, type User } from '../../model/user.ts';
import type {
  AccessKind,
  AccessToken,
  AgentLink,
  Clock,
  ListeningPort,
  SandboxStore,
} from '../ports/index.ts';
import { resolveSandbox } from '../turns/resolve.ts';
import type { SandboxUses } from '../work/sandbox-uses.ts';
import type { AccessService } from './tokens.ts';

export interface Preview {
  url: string;
  /** null when the URL contains it. */
  token: string | null;
  expiresAt: number | null;
}

export interface PreviewDependencies {
  uses: SandboxUses;
  agent: AgentLink;
  access: AccessService;
  clock: Clock;
}

export class PreviewService {
  readonly #deps: PreviewDependencies;
  #site: PreviewSite | null = null;

  constructor(dependencies: PreviewDependencies) {
    this.#deps = dependencies;
  }

  /** Called once the gateway listens. */
  servedAt(site: PreviewSite): void {
    this.#site = site;
  }

  /** null until the gateway listens. */
  get site(): PreviewSite | null {
    return this.#site;
  }

  ports(caller: User, reference: string | undefined, signal?: AbortSignal): Promise<ListeningPort[]> {
    return this.#deps.uses.run(caller, reference, ({ id }) => this.#deps.agent.ports(id, signal));
  }

  /**
   * Returns the preview of a port of a started sandbox, with or without a listener. Each signed preview has a token of
   * its own. A token of one sandbox gets those alone, and none that outlives it.
   */
  async preview(
    caller: Caller,
    reference: string,
    port: number,
    signedForSeconds: number | null,
  ): Promise<Preview> {
    const { uses, access, clock } = this.#deps;
    return uses.run(caller, reference, async ({ id }) => {
      const site = this.#site;
      if (!site) throw new SandhavenError('unavailable', 'This service has no preview gateway.');
      if (caller.only && signedForSeconds === null) throw notStandard();
      const urlOf = (name: string) => `${previewOrigin(site, `${port}-${name}`)}/`;
      if (signedForSeconds === null) {
        const token = await access.previewToken(id, port);
        return { url: urlOf(id.replace(/^sb_/, '')), token, expiresAt: null };
      }
      const longest = clock.now() + signedForSeconds * 1_000;
      const expiresAt = caller.only ? Math.min(longest, caller.keyExpiresAt ?? longest) : longest;
      const { token } = await access.mint(id, 'preview', { port, expiresAt });
      return { url: urlOf(token), token: null, expiresAt };
    });
  }
}

function notStandard(): SandhavenError {
  return new SandhavenError('permission_denied', 'A token of one sandbox gets no preview without an end.', {
    parameter: 'signed',
    hint: 'Set signed to true.',
  });
}

/** Credentials for the SSH gateway: Sandbox.CreateSshAccess. */
interface SshAccess {
  host: string;
  port: number;
  /** The sandbox's id. The token is its password; alone, the token also serves as user name. */
  username: string;
  /** Sensitive: returned once, never stored. */
  accessToken: string;
  /** `ssh-ed25519 AAAA…` */
  hostKey: string;
  /** null: never. */
  expiresAt: number | null;
}

interface SshEndpoint {
  host: string;
  port: number;
  hostKey: string;
}

const MINUTE_MS = 60_000;

export class SshAccessService {
  readonly #uses: Pick<SandboxUses, 'run'>;
  readonly #access: Pick<AccessService, 'mint'>;
  readonly #clock: Clock;
  #endpoint: SshEndpoint | null = null;

  constructor(uses: Pick<SandboxUses, 'run'>, access: Pick<AccessService, 'mint'>, clock: Clock) {
    this.#uses = uses;
    this.#access = access;
    this.#clock = clock;
  }

  /** Sets the gateway's address; before that no access can be created. */
  serveAt(endpoint: SshEndpoint): void {
    this.#endpoint = endpoint;
  }

  /** Creates access to a started sandbox; earlier tokens stay valid. 0 minutes never expire. */
  async create(
    caller: User,
    reference: string | undefined,
    { expiresInMinutes }: { expiresInMinutes: number },
  ): Promise<SshAccess> {
    return this.#uses.run(caller, reference, async ({ id }) => {
      const endpoint = this.#endpoint;
      if (!endpoint) {
        throw new SandhavenError('unavailable', 'The SSH gateway is not ready.', {
          hint: 'Try again in a moment.',
        });
      }
      const expiresAt = expiresInMinutes === 0 ? null : this.#clock.now() + expiresInMinutes * MINUTE_MS;
      const { token } = await this.#access.mint(id, 'ssh', { port: null, expiresAt });
      return { ...endpoint, username: id, accessToken: token, expiresAt };
    });
  }
}

/** Shows and revokes the tokens of CreateSshAccess and GetPortPreviewUrl, in any state of the sandbox. */
interface RevokedAccess {
  sandboxId: string;
  /** Revoked minted tokens that had not expired. */
  tokens: Record<AccessKind, number>;
}

export class AccessRevocation {
  readonly #store: SandboxStore;
  readonly #access: Pick<AccessService, 'check' | 'revoke' | 'revokeOne'>;

  constructor(store: SandboxStore, access: Pick<AccessService, 'check' | 'revoke' | 'revokeOne'>) {
    this.#store = store;
    this.#access = access;
  }

  /** Revokes access to one of the caller's own sandboxes and ends its open connections. */
  async revoke(caller: User, reference: string, kinds: readonly WayInside[]): Promise<RevokedAccess> {
    const { id } = await resolveSandbox(this.#store, caller, reference);
    return { sandboxId: id, tokens: await this.#access.revoke(id, kinds) };
  }

  /** Revokes one token of one of the caller's own sandboxes. Rejects with `not_found` where it gives no access to that. */
  async revokeToken(caller: User, reference: string, token: string): Promise<AccessToken> {
    const { id } = await resolveSandbox(this.#store, caller, reference);
    if (readSandboxToken(token)) throw notAlone();
    return (await this.#access.revokeOne(id, token)) ?? Promise.reject(noToken());
  }

  /** Returns what a token gives access to. Rejects with `not_found` where that is nothing of the caller's own. */
  async tokenOf(caller: User, token: string): Promise<AccessToken> {
    const found = (await this.#access.check('ssh', token)) ?? (await this.#access.check('preview', token));
    if (found && (await this.#store.find(ownerIdOf(caller), found.sandboxId))) return found;
    throw noToken();
  }
}

function notAlone(): SandhavenError {
  const message = 'This is a token of the sandbox itself. Those end together.';
  return invalidArgument('token', message, 'Call RevokeAccess with kind token.');
}

function noToken(): SandhavenError {
  return notFound('token', 'The token gives no access.', 'It has expired, or was revoked.');
}
