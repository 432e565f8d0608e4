/** Deletes snapshots; tools make and list them. */
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
   * Deletes one of the caller's own, for good and in any state. Sandboxes made from it keep running
   * unchanged.
   * @param snapshot Name or ID.
   */
  async delete(snapshot: string, options: RequestOptions = {}): Promise<DeletedSnapshot> {
    return await administer(this.#connection, 'DeleteSnapshot', { snapshot }, options);
  }
}
