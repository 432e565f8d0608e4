/** The administration's actions that the page calls, with their types. */
import { client, ownClient } from './client.ts';
import type {
  AuditPage,
  AuditReport,
  DeviceSignIn,
  Health,
  Key,
  OwnedByUser,
  OwnedSandbox,
  Registries,
  Team,
  Terminal,
  User,
} from './records.ts';

interface Paged {
  total_pages: number;
}

const call = <Result>(action: string, parameters: object = {}) =>
  ownClient.administration.call<Result>(action, parameters);

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
  /** Without `yes` it shows what would go. */
  deleteUser: (user: string, yes: boolean, to?: string) =>
    call<OwnedByUser>('DeleteUser', { user, yes, ...(to === undefined ? {} : { to }) }),
  listTeams: () =>
    everyPage(
      (page) => call<Paged & { teams: Team[] }>('ListTeams', page),
      ({ teams }) => teams,
    ),
  createTeam: (name: string) => call<Team>('CreateTeam', { name }),
  deleteTeam: (team: string) => call('DeleteTeam', { team }),
  addTeamMember: (parameters: { team: string; user: string; role: string }) =>
    call<Team>('AddTeamMember', parameters),
  removeTeamMember: (parameters: { team: string; user: string }) =>
    call<Team>('RemoveTeamMember', parameters),
  listAllSandboxes: (page: number) =>
    call<Paged & { sandboxes: OwnedSandbox[]; total_count: number; may_read_inside: boolean }>(
      'ListAllSandboxes',
      {
        page,
        page_size: 100,
      },
    ),
  stopAnySandbox: (sandbox: string) => call('StopAnySandbox', { sandbox }),
  deleteAnySandbox: (sandbox: string) => call('DeleteAnySandbox', { sandbox }),
  listKeys: () =>
    everyPage(
      (page) => call<Paged & { keys: Key[] }>('ListKeys', page),
      ({ keys }) => keys,
    ),
  createKey: (parameters: {
    name: string;
    user?: string;
    team?: string;
    scopes?: string[];
    expires_in_minutes?: number;
  }) => call<Key & { api_key: string }>('CreateKey', parameters),
  revokeKey: (keyId: string) => call<Key>('RevokeKey', { key_id: keyId }),
  getDeviceSignIn: (code: string) => call<DeviceSignIn>('GetDeviceSignIn', { code }),
  approveDeviceSignIn: (code: string, scopes: readonly string[] | null) =>
    call<DeviceSignIn>('ApproveDeviceSignIn', { code, ...(scopes ? { scopes } : {}) }),
  denyDeviceSignIn: (code: string) => call<DeviceSignIn>('DenyDeviceSignIn', { code }),
  filePreview: (parameters: { sandbox: string; path: string }) =>
    client.administration.call<{ url: string; media_type: string; expires_at: string }>(
      'GetFilePreviewUrl',
      parameters,
    ),
  listAudit: (parameters: object) => call<AuditPage>('ListAudit', parameters),
  verifyAudit: () => call<AuditReport>('VerifyAudit'),
  getHealth: () => call<Health>('GetHealth'),
  listTerminals: (sandbox: string) =>
    client.administration.call<{ terminals: Terminal[] }>('ListTerminals', { sandbox }),
  endTerminal: (sandbox: string, terminal: string) =>
    client.administration.call('EndTerminal', { sandbox, terminal }),
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
