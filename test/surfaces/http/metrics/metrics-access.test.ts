/** Who may scrape, in which format, and what a scrape costs. */
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { fakeMetrics } from '../../fakes/fake-metrics.ts';
import { createFakeServices, MEMBER_KEY } from '../../fakes/fake-services.ts';
import { type Harness, startHttp } from '../http-harness.ts';

let http: Harness;

beforeAll(async () => {
  http = await startHttp();
  await http.services.audit.open();
});

afterAll(async () => {
  await http.services.audit.close();
  await http.close();
});

const scrape = (headers: Record<string, string> = {}) => http.fetch('/metrics', { headers });

describe('a scrape', () => {
  it('needs a key', async () => {
    const answer = await fetch(`${http.url}/metrics`);
    expect(answer.status).toBe(401);
    expect(await answer.json()).toMatchObject({ code: 'unauthenticated' });
  });

  it('needs the key of an admin', async () => {
    const answer = await scrape({ authorization: `Bearer ${MEMBER_KEY}` });
    expect(answer.status).toBe(403);
    expect(await answer.json()).toMatchObject({
      code: 'permission_denied',
      detail: "The scrape of metrics is for admins, and this key's owner is a member.",
    });
  });

  it('needs a key with the scope of health', async () => {
    const key = await newKey(['sandboxes:read', 'account']);
    const answer = await scrape({ authorization: `Bearer ${key}` });
    expect(answer.status).toBe(403);
    expect(await answer.json()).toMatchObject({
      detail: 'This key, sign-in or application lacks the scope admin.',
    });
  });

  it('works with a key that can do nothing but administer', async () => {
    const key = await newKey(['admin']);
    expect((await scrape({ authorization: `Bearer ${key}` })).status).toBe(200);
  });

  it('opens to no sign-in of a browser', async () => {
    const answer = await fetch(`${http.url}/metrics`, { headers: { cookie: '__Host-sandhaven=any' } });
    expect(answer.status).toBe(401);
  });

  it('gets plain text by default, and OpenMetrics when it asks for it', async () => {
    const text = await scrape();
    expect(text.headers.get('content-type')).toBe('text/plain; version=0.0.4; charset=utf-8');
    expect(await text.text()).toContain('# TYPE sandhaven_tool_calls_total counter\n');
    const open = await scrape({ accept: 'application/openmetrics-text;version=1.0.0,text/plain;q=0.5' });
    expect(open.headers.get('content-type')).toBe(
      'application/openmetrics-text; version=1.0.0; charset=utf-8',
    );
    const body = await open.text();
    expect(body).toContain('# TYPE sandhaven_tool_calls counter\n');
    expect(body.endsWith('\n# EOF\n')).toBe(true);
  });

  it('counts as no call, and leaves no audit row', async () => {
    await scrape();
    await http.call('GetCurrentUser', {});
    const { rows } = await http.services.audit.list({ filter: {}, limit: 100 }, 0);
    expect(rows.map(({ action }) => action).filter((action) => /metric/i.test(action))).toEqual([]);
  });
});

it('Scrapes side by side look once', async () => {
  let looks = 0;
  const gate = Promise.withResolvers<void>();
  const { services } = createFakeServices();
  const metrics = fakeMetrics(services.audit);
  const look = metrics.look.bind(metrics);
  Object.assign(metrics, {
    async look() {
      looks++;
      await gate.promise;
      return look();
    },
  });
  const other = await startHttp({ services: { ...services, metrics } });
  try {
    const scrapes = Array.from({ length: 10 }, () => other.fetch('/metrics'));
    await expect.poll(() => metrics.loads.all.get('requests')?.total).toBe(10);
    await other.fetch('/healthz');
    gate.resolve();
    const answers = await Promise.all(scrapes);
    expect(answers.map(({ status }) => status)).toEqual(Array(10).fill(200));
    expect(looks).toBe(1);
  } finally {
    await other.close();
  }
});

async function newKey(scopes: string[]): Promise<string> {
  const answer = await http.fetch('/v1/admin/CreateKey', {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify({ name: `for ${scopes.join(' ')}`, scopes }),
  });
  const made = (await answer.json()) as { api_key: string };
  expect(answer.status).toBe(200);
  return made.api_key;
}
