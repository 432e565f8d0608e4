/** What can be done to snapshots besides the tools, which make and show them. */
import { failureOf } from './call.ts';
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
    const init = {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify({ snapshot }),
    };
    const attempts = this.#connection.begin(options);
    try {
      const response = await this.#connection.request('/v1/admin/DeleteSnapshot', init, attempts);
      if (!response.ok) throw await failureOf(response);
      return (await response.json()) as DeletedSnapshot;
    } catch (error) {
      throw this.#connection.explain(error, attempts);
    } finally {
      attempts.close();
    }
  }
}
