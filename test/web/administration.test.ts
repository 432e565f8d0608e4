/** Activity, people, queries and configurations of the page. */
import { describe, expect, it } from 'vitest';
import { auditParametersOf, readActivityFilter } from '../../web/src/activity/filter.ts';
import { withRows } from '../../web/src/activity/live-rows.ts';
import { configurationsFor } from '../../web/src/connect/configurations.ts';
import { gridOf, sortOf, splitArray } from '../../web/src/documents/query-text.ts';
import { deletionOf } from '../../web/src/people/deletion.ts';
import { offeredScopes, scopesParameter } from '../../web/src/people/scopes.ts';
import { formOf, userParametersOf } from '../../web/src/people/user-form.ts';
import type { User } from '../../web/src/service/records.ts';
import { takeTicket } from '../../web/src/shell/ticket.ts';

describe('activity', () => {
  it('is filtered by the address', () => {
    const filter = readActivityFilter({ since: '7d', outcome: 'not_found', user: '', sandbox: 5, more: 1 });
    expect(filter).toEqual({ since: '7d', outcome: 'not_found', sandbox: '5' });
    expect(readActivityFilter({ since: '9y', action: [] })).toEqual({});
    expect(auditParametersOf({ since: '1h', action: ' CreateUser ' }, 200)).toEqual({
      ...{ since: '1h', action: 'CreateUser', limit: 200 },
    });
  });
});

describe('a user', () => {
  const used = { used: 1, limit: 10, left: 9 };
  const free = { used: 1, limit: null, left: null };
  const ada: User = {
    ...{
      user_id: 'user_1',
      name: 'Ada',
      email: 'ada@example.org',
      role: 'member',
      disabled: false,
      created_at: null,
    },
    usage: { sandboxes: used, cpu: free, memory: free, disk: free, snapshots: free },
  };

  it('is changed in what differs', () => {
    const form = formOf(ada);
    expect(userParametersOf(form, ada)).toEqual({});
    const quota = { ...form.quota, sandboxes: '' as const, cpu: 16 };
    expect(userParametersOf({ ...form, role: 'admin', quota }, ada)).toEqual({
      ...{ role: 'admin', quota_sandboxes: -1, quota_cpu: 16 },
    });
  });

  it('is deleted after a question that names what goes', () => {
    const owned = { sandboxes: 2, snapshots: 1, secrets: 0, webhooks: 0, keys: 3, teams: 1 };
    expect(deletionOf(ada, owned)).toEqual({
      title: 'Delete Ada?',
      body: 'ada@example.org is deleted for good, with 2 sandboxes and their disks, 1 snapshot, 3 keys. 1 team that they are in stays.',
    });
    const nothing = { sandboxes: 0, snapshots: 0, secrets: 0, webhooks: 0, keys: 0, teams: 0 };
    expect(deletionOf(ada, nothing).body).toBe('ada@example.org is deleted for good. They own nothing.');
  });

  it('is made with the service’s quota where none is given', () => {
    const form = { ...formOf(null), name: 'Ben', email: 'ben@example.org' };
    expect(userParametersOf(form, null)).toEqual({ name: 'Ben', email: 'ben@example.org', role: 'member' });
  });
});

describe('new rows of the log', () => {
  const row = (sequence: number, more: object = {}) =>
    ({
      sequence,
      action: 'CreateUser',
      user_id: 'user_1',
      sandbox_id: null,
      outcome: 'ok',
      ...more,
    }) as never;
  const page = { rows: [row(1), row(2)], next_after: 2, has_more: false };
  const sandboxIds = new Map([['demo', 'sb_1']]);
  const sequences = (rows: object[], filter: object, most = 10) =>
    withRows(page, rows as never, filter, { sandboxIds, most }).rows.map(({ sequence }) => sequence);

  it('come once, and the oldest leave', () => {
    expect(sequences([row(2), row(3), row(4)], {})).toEqual([1, 2, 3, 4]);
    expect(sequences([row(3), row(4)], {}, 3)).toEqual([2, 3, 4]);
  });

  it('are those that the filter lets through', () => {
    const rows = [
      row(3, { user_id: 'user_2' }),
      row(4, { action: 'ListKeys' }),
      row(5, { outcome: 'not_found' }),
      row(6, { sandbox_id: 'sb_1' }),
    ];
    expect(sequences(rows, { user: 'user_2' })).toEqual([1, 2, 3]);
    expect(sequences(rows, { action: ' ListKeys ' })).toEqual([1, 2, 4]);
    expect(sequences(rows, { outcome: 'not_found' })).toEqual([1, 2, 5]);
    expect(sequences(rows, { sandbox: 'demo' })).toEqual([1, 2, 6]);
    expect(sequences(rows, { sandbox: 'sb_1' })).toEqual([1, 2, 6]);
    expect(sequences(rows, { sandbox: 'other' })).toEqual([1, 2]);
  });
});

describe('the scopes of a new key', () => {
  const all = ['sandboxes:read', 'sandboxes:write', 'documents:read', 'account', 'admin'];

  it('are all that there are for an admin, and all but admin for a member', () => {
    expect(offeredScopes(null, { role: 'admin', isTeam: false })).toEqual(all);
    expect(offeredScopes(null, { role: 'member', isTeam: false })).toEqual(all.slice(0, 4));
  });

  it('are those of a limited sign-in at most', () => {
    const member = { role: 'member', isTeam: false } as const;
    expect(offeredScopes(['account', 'sandboxes:read', 'admin'], member)).toEqual([
      'sandboxes:read',
      'account',
    ]);
  });

  it('are none about a person for a key of a team', () => {
    expect(offeredScopes(null, { role: 'admin', isTeam: true })).toEqual([
      ...['sandboxes:read', 'sandboxes:write', 'documents:read'],
    ]);
  });

  it('are left out without a limit', () => {
    expect(scopesParameter(false, ['account'])).toEqual({});
    expect(scopesParameter(true, ['account'])).toEqual({ scopes: ['account'] });
  });
});

describe('queries', () => {
  it('have pipelines split as they are written', () => {
    expect(splitArray('[{"$match": {"a": [1, 2]}}, {"$limit": 9007199254740993}]')).toEqual([
      '{"$match": {"a": [1, 2]}}',
      '{"$limit": 9007199254740993}',
    ]);
    expect(splitArray('[{"a": "],[\\""}]')).toEqual(['{"a": "],[\\""}']);
    expect(splitArray('[]')).toEqual([]);
    expect(splitArray('{"$match": {}}')).toBeNull();
    expect(splitArray('[{"a": 1}}]')).toBeNull();
    expect(splitArray('[1,,2]')).toBeNull();
  });

  it('have an order of fields', () => {
    expect(sortOf('{"age": -1, "name": 1}')).toEqual([
      '{"field":"age","direction":-1}',
      '{"field":"name","direction":1}',
    ]);
    expect(sortOf(' ')).toEqual([]);
    expect(sortOf('{"age": "down"}')).toBeNull();
    expect(sortOf('[1]')).toBeNull();
  });

  it('show documents as a table with all fields', () => {
    const documents = [
      '{"_id":{"$oid":"65"},"n":{"$numberLong":"9007199254740993"}}',
      '{"n":1,"tags":["a"],"x":null}',
    ];
    expect(gridOf(documents)).toEqual({
      columns: ['_id', 'n', 'tags', 'x'],
      rows: [
        ['65', '9007199254740993', '', ''],
        ['', '1', '["a"]', 'null'],
      ],
    });
  });
});

describe('configurations', () => {
  const texts = new Map(
    configurationsFor('https://box.example.org', 'shv_key').map(({ id, text }) => [id, text]),
  );

  it('name the address and the key', () => {
    expect(texts.get('claude-code')).toBe(
      'claude mcp add --transport http sandhaven https://box.example.org/mcp \\\n' +
        '  --header "Authorization: Bearer shv_key"',
    );
    expect(JSON.parse(texts.get('cursor') ?? '')).toEqual({
      mcpServers: {
        sandhaven: { url: 'https://box.example.org/mcp', headers: { Authorization: 'Bearer shv_key' } },
      },
    });
  });

  it('show programs with the SDK, which read the key from the environment', () => {
    expect(texts.get('python')).toContain('with Sandhaven(url="https://box.example.org") as client:');
    expect(texts.get('typescript')).toContain("new Sandhaven({ url: 'https://box.example.org' })");
    expect(`${texts.get('python')}${texts.get('typescript')}`).not.toContain('shv_key');
  });

  it('begin with a program for any client, which has the key in its environment', () => {
    const [first] = configurationsFor('https://box.example.org', 'shv_key');
    expect(JSON.parse(first?.text ?? '')).toEqual({
      mcpServers: {
        sandhaven: {
          command: 'npx',
          args: ['-y', 'https://box.example.org/packages/mcp.tgz'],
          env: { SANDBOX_API_URL: 'https://box.example.org', SANDBOX_API_KEY: 'shv_key' },
        },
      },
    });
    expect(texts.get('claude-desktop')).toBe(first?.text);
  });

  it('install from the service itself, and name no registry', () => {
    const all = configurationsFor('https://box.example.org', 'shv_key');
    expect(all.flatMap(({ id, install }) => (install === undefined ? [] : [[id, install]]))).toEqual([
      [
        'python',
        'python3 -m venv .venv && . .venv/bin/activate\n' +
          'pip install --no-index --find-links https://box.example.org/packages/ sandhaven',
      ],
      ['typescript', 'npm install https://box.example.org/packages/sdk.tgz'],
      ['cli', 'npm install --global https://box.example.org/packages/cli.tgz'],
    ]);
  });

  it.each([
    ['http://127.0.0.1:7420', ''],
    ['http://[::1]:7420', ''],
    ['https://box.example.org', ''],
    ['http://box.example.org:7420', ' --trusted-host box.example.org'],
  ])('let pip trust %s by the flag "%s"', (origin, flag) => {
    const install = configurationsFor(origin, 'none').find(({ id }) => id === 'python')?.install ?? '';
    expect(install.split('\n')[1]).toBe(
      `pip install --no-index --find-links ${origin}/packages/${flag} sandhaven`,
    );
  });

  it('let VS Code ask for the key', () => {
    expect(texts.get('vscode')).not.toContain('shv_key');
    expect(texts.get('vscode')).toContain('$'.concat('{input:sandhaven-key}'));
  });
});

describe('a ticket', () => {
  /** An address changes as a browser's does. */
  const taken = (hash: string) => {
    const place = { hash, pathname: '/', search: '?a=1' };
    const shown: string[] = [];
    const replaceState = (_: null, __: string, url: string) => {
      shown.push(url);
      place.hash = '';
    };
    return { ticket: takeTicket(place, { replaceState }), shown };
  };

  it('is taken, and removed from the address bar', () => {
    expect(taken('#ticket=abc-123_~.')).toEqual({ ticket: 'abc-123_~.', shown: ['/?a=1'] });
  });

  it('that is malformed is removed too, and any other address is left', () => {
    expect(taken('#ticket=<script>')).toEqual({ ticket: null, shown: ['/?a=1'] });
    expect(taken('#other')).toEqual({ ticket: null, shown: [] });
  });
});
