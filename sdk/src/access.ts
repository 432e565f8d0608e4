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
  /** Revokes only this kind; both without it. */
  kind?: 'ssh' | 'preview';
}

export class Access {
  readonly #connection: Connection;

  constructor(connection: Connection) {
    this.#connection = connection;
  }

  /**
   * Ends every SSH token, signed preview URL and standard preview token of one of the caller's own sandboxes, and the
   * connections open by them.
   * @param sandbox Name or ID.
   */
  async revoke(sandbox: string, { kind, ...options }: RevokeOptions = {}): Promise<RevokedAccess> {
    return await administer(this.#connection, 'RevokeAccess', { sandbox, kind }, options);
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
