/** Deletes sessions; tools make, list and use them. */
import { administer } from './administration.ts';
import type { Connection, RequestOptions } from './connection.ts';

export interface DeletedSession {
  session_id: string;
  deleted: true;
}

export class Sessions {
  readonly #connection: Connection;

  constructor(connection: Connection) {
    this.#connection = connection;
  }

  /**
   * Kills the shell with all that it has started, and forgets the logs of its commands. Returns once all has ended; the
   * ID is free again.
   * @param sandbox Name or ID.
   */
  async delete(sandbox: string, sessionId: string, options: RequestOptions = {}): Promise<DeletedSession> {
    const parameters = { sandbox, session_id: sessionId };
    return await administer(this.#connection, 'DeleteSession', parameters, options);
  }
}
