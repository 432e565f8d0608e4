/** Lists of sandboxes as each generation of Daytona's clients asks for them. */
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { addDaytonaRoutes } from '../../../src/surfaces/daytona/routes.ts';
import { sandboxRecord } from '../../store/fixtures.ts';
import { type Harness, startHttp } from '../http/http-harness.ts';

type Item = Record<string, unknown>;

let http: Harness;

/** Five of the caller's, the newest last, at 1970-01-01T00:00:01 and each second after it. */
beforeEach(async () => {
  http = await startHttp({ further: addDaytonaRoutes });
  ['ann', 'bob', 'cleo', 'dan', 'eve'].forEach((name, at) => {
    const times = { createdAt: (at + 1) * 1_000, lastActivityAt: (at + 1) * 60_000 };
    const id = `sb_${name}`;
    const envVars = { NAME: name };
    http.sandboxes.set(id, sandboxRecord({ id, name, ownerId: 'user_1', envVars, ...times }));
  });
  Object.assign(http.sandboxes.get('sb_bob') ?? {}, { state: 'stopped', snapshot: 'tools' });
  Object.assign(http.sandboxes.get('sb_cleo') ?? {}, {
    ...{ state: 'error', resources: { cpu: 8, memory: 16, disk: 40, gpu: 1 } },
  });
  Object.assign(http.sandboxes.get('sb_dan') ?? {}, { operation: 'stopping' });
});

afterEach(() => http.close());

async function list(query: string): Promise<{ status: number; body: Item & { items: Item[] } }> {
  const response = await http.fetch(`/daytona/api/sandbox${query}`);
  return { status: response.status, body: (await response.json()) as Item & { items: Item[] } };
}

const names = (items: Item[]) => items.map(({ name }) => name);

describe('a list by cursor', () => {
  it('ends with null, and has no environment', async () => {
    const { body } = await list('');
    expect(names(body.items)).toEqual(['eve', 'dan', 'cleo', 'bob', 'ann']);
    expect(body['nextCursor']).toBeNull();
    expect(body.items[0]).toMatchObject({
      networkBlockAll: false,
      toolboxProxyUrl: `${http.url}/daytona/toolbox`,
    });
    expect(body.items[0]).not.toHaveProperty('env');
  });

  it('misses none where each is deleted as it comes', async () => {
    const seen: unknown[] = [];
    let cursor: unknown = '';
    while (cursor !== null) {
      const { body } = await list(`?limit=2&cursor=${cursor}`);
      for (const { id, name } of body.items) {
        seen.push(name);
        http.sandboxes.delete(String(id));
      }
      cursor = body['nextCursor'];
    }
    expect(seen).toEqual(['eve', 'dan', 'cleo', 'bob', 'ann']);
  });

  it.each([
    ['states=stopped&states=stopping', ['dan', 'bob']],
    ['states=started', ['eve', 'ann']],
    ['name=E', ['eve']],
    ['id=sb_a', ['ann']],
    ['snapshots=tools', ['bob']],
    ['regionIds=us', []],
    ['regionIds=us&regionIds=local&name=a', ['ann']],
    ['minCpu=3', ['cleo']],
    ['maxMemoryGiB=4&minDiskGiB=20', ['eve', 'dan', 'bob', 'ann']],
    ['isRecoverable=true', ['cleo']],
    ['isPublic=true', []],
    ['createdAtAfter=1970-01-01T00:00:04Z', ['eve']],
    ['createdAtBefore=1970-01-01T00:00:02Z', ['ann']],
    ['lastEventAfter=1970-01-01T00:04:30Z', ['eve']],
    ['sort=createdAt&order=desc&includeErroredDeleted=true&limit=1000', ['eve', 'dan', 'cleo', 'bob', 'ann']],
  ])('filters by %s', async (query, expected) => {
    expect(names((await list(`?${query}`)).body.items)).toEqual(expected);
  });

  it('hands labels to the core', async () => {
    const asked = vi.spyOn(http.services.sandboxes, 'list');
    await list(`?labels=${encodeURIComponent('{"team":"x"}')}`);
    expect(asked.mock.calls[0]?.[1]).toEqual({ labels: { team: 'x' } });
  });

  it.each(['sort=name', 'order=asc', 'autoDestroyAtAfter=1970-01-01', 'later=1'])(
    'refuses %s',
    async (query) => {
      expect(await list(`?${query}`)).toMatchObject({ status: 501, body: { code: 'NOT_IMPLEMENTED' } });
    },
  );

  it.each(['minCpu=many', 'createdAtAfter=once', 'labels=team', 'limit=0', 'cursor=7', 'labels=%5B1%5D'])(
    'rejects %s',
    async (query) => {
      expect(await list(`?${query}`)).toMatchObject({ status: 400, body: { code: 'INVALID_ARGUMENT' } });
    },
  );
});

describe('a list by page', () => {
  it('counts from 1, and has the environment', async () => {
    const { body } = await list('/paginated?page=2&limit=2');
    expect(body).toMatchObject({ total: 5, page: 2, totalPages: 3 });
    expect(names(body.items)).toEqual(['cleo', 'bob']);
    expect(body.items[1]).toMatchObject({ env: { NAME: 'bob' }, state: 'stopped' });
  });

  it('counts what its filters leave', async () => {
    const { body } = await list('/paginated?states=started&limit=1');
    expect(body).toMatchObject({ total: 2, page: 1, totalPages: 2, items: [{ name: 'eve' }] });
    expect((await list('/paginated?page=9')).body).toMatchObject({ total: 5, page: 9, items: [] });
  });

  it('refuses a cursor', async () => {
    expect((await list('/paginated?cursor=1.sb_ann')).status).toBe(501);
  });
});

it('is in the audit log as the tool of lists', async () => {
  await list('');
  const response = await http.fetch('/v1/admin/ListAudit', {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: '{}',
  });
  const { rows } = (await response.json()) as { rows: Item[] };
  expect(rows).toContainEqual(
    expect.objectContaining({ action: 'Sandbox.ListSandboxes', outcome: 'ok', transport: 'http' }),
  );
});
