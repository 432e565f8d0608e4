/** What can be done to snapshots besides the tools, which make and show them. */
import { administer } from './administration.ts';
import type { Connection, RequestOptions } from './connection.ts';

export interface DeletedSnapshot {
  id: string;
  name: string;
  deleted: true;
}

export class Snapshots {
  readonly #connection: Connection;

  constructor(connection: Connection) {
    this.#connection = connection;
  }

  /**
   * Deletes one of your own, for good and in any state. Sandboxes that were made from it go on as before.
   * @param snapshot Name or ID.
   */
  async delete(snapshot: string, options: RequestOptions = {}): Promise<DeletedSnapshot> {
    return await administer(this.#connection, 'DeleteSnapshot', { snapshot }, options);
  }
}
