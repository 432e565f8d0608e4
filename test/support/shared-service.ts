/** The service that files of a project share: a start and an end of one take five seconds of a processor. */
import { expect, inject } from 'vitest';
import { mustAct } from './people.ts';
import { type Service, startService } from './service.ts';

export type SharedService = Pick<Service, 'url' | 'apiKey' | 'stop'>;

/** Resolves with an admin of the file's own; `stop` deletes the admin, and all that is theirs. A project without a shared service starts one. */
export async function sharedService(): Promise<SharedService> {
  const shared = inject('sharedService') as { url: string; apiKey: string } | undefined;
  if (!shared) return startService();
  const name = (expect.getState().testPath ?? '').replace(/.*\/test\/|\.test\.ts$/g, '');
  const email = `${name.replaceAll('/', '.')}@example.org`;
  const { user_id: user } = await mustAct(shared, 'CreateUser', { name, email, role: 'admin' });
  const { api_key: apiKey } = await mustAct(shared, 'CreateKey', { user: email, name: 'test' });
  return {
    ...{ url: shared.url, apiKey: String(apiKey) },
    stop: async () => void (await mustAct(shared, 'DeleteUser', { user, yes: true })),
  };
}
