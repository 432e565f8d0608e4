/** Taking back what was given out with createSshAccess and getPortPreviewUrl. */
import { administer } from './administration.ts';
import type { Connection, RequestOptions } from './connection.ts';

export interface RevokedAccess {
  /** ID. */
  sandbox: string;
  /** SSH tokens that had not expired. */
  ssh: number;
  /** Signed URLs that had not expired. */
  previews: number;
  revoked: true;
}

export interface RevokeOptions extends RequestOptions {
  /** Only these; both without. */
  kind?: 'ssh' | 'preview';
}

export class Access {
  readonly #connection: Connection;

  constructor(connection: Connection) {
    this.#connection = connection;
  }

  /**
   * Ends every SSH token, signed preview URL and standard preview token of a sandbox of one's own, and what is open by
   * them.
   * @param sandbox Name or ID.
   */
  async revoke(sandbox: string, { kind, ...options }: RevokeOptions = {}): Promise<RevokedAccess> {
    return await administer(this.#connection, 'RevokeAccess', { sandbox, kind }, options);
  }
}
