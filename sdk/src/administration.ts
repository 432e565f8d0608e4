/** Calls one administration action of the service; actions are no tools. */
import { failureOf } from './call.ts';
import type { Connection, RequestOptions } from './connection.ts';

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
    const response = await connection.request(`/v1/admin/${action}`, init, attempts);
    if (!response.ok) throw await failureOf(response);
    return (await response.json()) as Result;
  } catch (error) {
    throw connection.explain(error, attempts);
  } finally {
    attempts.close();
  }
}
