/** Revokes access given out with createSshAccess and getPortPreviewUrl. */
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
}
