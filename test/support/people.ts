/** Several users of one service. */
import { type Answer, post, type Service } from './service.ts';

export interface Person extends Pick<Service, 'url' | 'apiKey'> {
  userId: string;
  email: string;
  keyId: string;
}

/** One administration action over HTTP. */
export function act(
  as: Pick<Service, 'url' | 'apiKey'>,
  action: string,
  parameters: Record<string, unknown> = {},
): Promise<Answer> {
  return post(as, `/v1/admin/${action}`, parameters);
}

/** As `act`, and fails when the answer is an error. */
export async function mustAct(
  as: Pick<Service, 'url' | 'apiKey'>,
  action: string,
  parameters: Record<string, unknown> = {},
): Promise<Record<string, unknown>> {
  const { status, body } = await act(as, action, parameters);
  if (status !== 200) throw new Error(`${action}: ${JSON.stringify(body)}`);
  return body;
}

/** A member with a key. */
export async function person(
  service: Pick<Service, 'url' | 'apiKey'>,
  name: string,
  quota: Record<string, number> = {},
): Promise<Person> {
  const email = `${name.toLowerCase()}@example.org`;
  const { user_id: userId } = await mustAct(service, 'CreateUser', { name, email, ...quota });
  const key = await mustAct(service, 'CreateKey', { user: email, name: 'test' });
  const { url } = service;
  return { url, apiKey: String(key['api_key']), userId: String(userId), email, keyId: String(key['key_id']) };
}
