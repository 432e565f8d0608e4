/** Shows and revokes access given out with createSshAccess and getPortPreviewUrl. */
import { administer } from './administration.ts';
import type { Connection, RequestOptions } from './connection.ts';

export interface RevokedAccess {
  /** Sandbox ID. */
  sandbox: string;
  /** Number of SSH tokens that had not expired. */
  ssh: number;
  /** Number of signed URLs that had not expired. */
  previews: number;
  revoked: true;
}

/** A token of one sandbox, to be used in place of an API key. */
export interface SandboxToken {
  /** Sandbox ID. */
  sandbox: string;
  /** A secret, which no other call shows. */
  token: string;
  /** Stands in the audit log in place of the id of a key. */
  token_id: string;
  expires_at: string;
}

export interface SandboxTokenOptions extends RequestOptions {
  /** At most 30 days (default: 60). */
  expiresInMinutes?: number;
}

/** Ports of a sandbox that everybody may visit, at the addresses of standard previews. */
export interface PublicPorts {
  /** Sandbox ID. */
  sandbox: string;
  /** true: every port. */
  all: boolean;
  /** Those that are open one by one. */
  ports: number[];
  /** true: the operator lets owners open ports. */
  allowed: boolean;
}

/** What a token gives access to. */
export interface AccessToken {
  /** Sandbox ID. */
  sandbox: string;
  kind: 'ssh' | 'preview';
  /** Of a preview; null for SSH. */
  port: number | null;
  created_at: string;
  /** null: never. */
  expires_at: string | null;
}

export interface RevokeOptions extends RequestOptions {
  /** Revokes only this kind, `token` with previews; all without it. */
  kind?: 'ssh' | 'preview' | 'token';
}

export class Access {
  readonly #connection: Connection;

  constructor(connection: Connection) {
    this.#connection = connection;
  }

  /**
   * Ends every SSH token, signed preview URL, standard preview token and own token of one of the caller's sandboxes, and the
   * connections open by them.
   * @param sandbox Name or ID.
   */
  async revoke(sandbox: string, { kind, ...options }: RevokeOptions = {}): Promise<RevokedAccess> {
    return await administer(this.#connection, 'RevokeAccess', { sandbox, kind }, options);
  }

  /**
   * Makes a token that opens the files, programs and previews of one of the caller's own sandboxes, and nothing else.
   * @param sandbox Name or ID.
   */
  async createToken(
    sandbox: string,
    { expiresInMinutes, ...options }: SandboxTokenOptions = {},
  ): Promise<SandboxToken> {
    const parameters = { sandbox, expires_in_minutes: expiresInMinutes };
    return await administer(this.#connection, 'CreateSandboxToken', parameters, options);
  }

  /** Shows which ports of one of the caller's own sandboxes everybody may visit. */
  async publicPorts(sandbox: string, options: RequestOptions = {}): Promise<PublicPorts> {
    return await administer(this.#connection, 'GetPublicPorts', { sandbox }, options);
  }

  /** Opens exactly these ports to everybody, where the operator allows it; an empty list closes all. */
  async setPublicPorts(
    sandbox: string,
    ports: 'all' | readonly number[],
    options: RequestOptions = {},
  ): Promise<PublicPorts> {
    const parameters = ports === 'all' ? { sandbox, all: true } : { sandbox, ports };
    return await administer(this.#connection, 'SetPublicPorts', parameters, options);
  }

  /**
   * Ends one SSH token, or the token of one signed preview URL, and the connections that are open by it.
   * @param sandbox Name or ID.
   */
  async revokeToken(sandbox: string, token: string, options: RequestOptions = {}): Promise<AccessToken> {
    return await administer(this.#connection, 'RevokeAccessToken', { sandbox, token }, options);
  }

  /** Shows what a token of one of the caller's own sandboxes gives access to; throws `not_found` for one that gives none. */
  async show(token: string, options: RequestOptions = {}): Promise<AccessToken> {
    return await administer(this.#connection, 'GetAccessToken', { token }, options);
  }
}
