/** Calls administration actions of the service, such as ListUsers; actions are no tools. */
import { failureOf } from './call.ts';
import type { Connection, RequestOptions } from './connection.ts';

export class Administration {
  readonly #connection: Connection;

  constructor(connection: Connection) {
    this.#connection = connection;
  }

  /**
   * Calls one action; `GET /v1/admin` of the service describes each with its parameters and its result. An action is
   * never sent twice.
   * @param action Such as 'ListUsers'.
   */
  async call<Result = unknown>(
    action: string,
    parameters: object = {},
    options: RequestOptions = {},
  ): Promise<Result> {
    return await administer<Result>(this.#connection, action, parameters, options);
  }
}

export async function administer<Result>(
  connection: Connection,
  action: string,
  parameters: object,
  options: RequestOptions,
): Promise<Result> {
  const init = {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify(parameters),
  };
  const attempts = connection.begin(options);
  try {
    const response = await connection.request(`/v1/admin/${encodeURIComponent(action)}`, init, attempts);
    if (!response.ok) throw await failureOf(response);
    return (await response.json()) as Result;
  } catch (error) {
    throw connection.explain(error, attempts);
  } finally {
    attempts.close();
  }
}
