/** Builds that go on without their client, over HTTP. */
import { buffer } from 'node:stream/consumers';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { tarOf } from '../../control/builds/archives.ts';
import { MEMBER_KEY } from '../fakes/fake-services.ts';
import { type Harness, startHttp } from './http-harness.ts';

let http: Harness;

beforeEach(async () => {
  http = await startHttp();
});

afterEach(() => http.close());

const post = async (query: string) =>
  http.fetch(`/v1/builds?${query}`, {
    method: 'POST',
    headers: { 'content-type': 'application/x-tar' },
    body: await buffer(tarOf({ Dockerfile: 'FROM base\n' })),
  });
const read = async (id: string, from = 0) =>
  (await (await http.fetch(`/v1/builds/${id}?from=${from}`)).json()) as Record<string, unknown>;

async function begun(): Promise<string> {
  const answer = await post('name=tools&detach=true');
  expect(answer.status).toBe(202);
  const { build_id } = (await answer.json()) as { build_id: string };
  expect(build_id).toMatch(/^build_[0-9a-z]{16}$/);
  return build_id;
}

describe('a detached build', () => {
  it('is read from a position on, with its snapshot at the end', async () => {
    const id = await begun();
    const [build] = http.builds;
    expect(build?.files).toEqual({ Dockerfile: 'FROM base\n' });
    build?.say({ event: 'step', step: 1, of: 1, stage: '0', line: 1, text: 'FROM base' });
    build?.say({ event: 'note', line: 1, text: 'Noted.' });
    expect(await read(id, 1)).toEqual({
      ...{ build_id: id, name: 'tools', state: 'building', next: 2, snapshot: null, problem: null },
      events: [{ at: expect.stringMatching(/^\d{4}-.*Z$/), event: 'note', line: 1, text: 'Noted.' }],
    });
    build?.end.reject(new Error('a secret of the host'));
    await expect.poll(async () => (await read(id))['state']).toBe('failed');
    expect((await read(id))['problem']).toMatchObject({ code: 'internal' });
    expect(JSON.stringify(await read(id))).not.toContain('secret of the host');
  });

  it('that cannot be prepared is refused, and leaves nothing', async () => {
    const answer = await post('name=refused&detach=true');
    expect([answer.status, await answer.json()]).toMatchObject([400, { code: 'invalid_argument' }]);
    for (let count = 0; count < 20; count++) await post('name=refused&detach=true');
    await begun();
  });

  it('ends by DELETE, and is unknown then, as to all others before', async () => {
    const id = await begun();
    const other = { headers: { authorization: `Bearer ${MEMBER_KEY}` } };
    for (const method of ['GET', 'DELETE'])
      expect((await http.fetch(`/v1/builds/${id}`, { method, ...other })).status).toBe(404);
    expect((await http.fetch(`/v1/builds/${id}`, { method: 'DELETE' })).status).toBe(204);
    await expect(http.builds[0]?.end.promise).rejects.toMatchObject({ code: 'unavailable' });
    expect((await http.fetch(`/v1/builds/${id}`)).status).toBe(404);
  });
});
