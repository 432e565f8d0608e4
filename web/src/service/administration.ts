/** The administration's actions that the page calls, with their types. */
import { client } from './client.ts';
import type { AuditPage, AuditReport, Key, Registries, Terminal, User } from './records.ts';

interface Paged {
  total_pages: number;
}

const call = <Result>(action: string, parameters: object = {}) =>
  client.administration.call<Result>(action, parameters);

export const administration = {
  listUsers: () =>
    everyPage(
      (page) => call<Paged & { users: User[] }>('ListUsers', page),
      ({ users }) => users,
    ),
  createUser: (parameters: object) => call<User>('CreateUser', parameters),
  updateUser: (parameters: object) => call<User>('UpdateUser', parameters),
  disableUser: (user: string) => call<User>('DisableUser', { user }),
  enableUser: (user: string) => call<User>('EnableUser', { user }),
  listKeys: () =>
    everyPage(
      (page) => call<Paged & { keys: Key[] }>('ListKeys', page),
      ({ keys }) => keys,
    ),
  createKey: (parameters: { name: string; user?: string; expires_in_minutes?: number }) =>
    call<Key & { api_key: string }>('CreateKey', parameters),
  revokeKey: (keyId: string) => call<Key>('RevokeKey', { key_id: keyId }),
  listAudit: (parameters: object) => call<AuditPage>('ListAudit', parameters),
  verifyAudit: () => call<AuditReport>('VerifyAudit'),
  listTerminals: (sandbox: string) => call<{ terminals: Terminal[] }>('ListTerminals', { sandbox }),
  endTerminal: (sandbox: string, terminal: string) => call('EndTerminal', { sandbox, terminal }),
  listRegistries: () => call<Registries>('ListRegistries'),
};

const MOST_PAGES = 50;

async function everyPage<Page extends Paged, Item>(
  fetchPage: (page: { page: number; page_size: number }) => Promise<Page>,
  itemsOf: (page: Page) => Item[],
): Promise<Item[]> {
  const items: Item[] = [];
  for (let number = 1; number <= MOST_PAGES; number++) {
    const page = await fetchPage({ page: number, page_size: 100 });
    items.push(...itemsOf(page));
    if (number >= page.total_pages) break;
  }
  return items;
}
