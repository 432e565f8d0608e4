/** GET /v1/events over real sandboxes; with replicas, the stream and the calls may be of different ones. */
import { afterAll, beforeAll, expect, it } from 'vitest';
import { person } from '../../support/people.ts';
import { must } from '../../support/service.ts';
import { type SharedService, sharedService } from '../../support/shared-service.ts';

let service: SharedService;

beforeAll(async () => {
  service = await sharedService();
}, 120_000);

afterAll(() => service?.stop());

interface Event {
  event: string;
  data: Record<string, unknown>;
}

/** What a stream has had so far. */
async function follow({
  url,
  apiKey,
}: Pick<SharedService, 'url' | 'apiKey'>): Promise<{ got: Event[]; end(): void }> {
  const ended = new AbortController();
  const headers = { authorization: `Bearer ${apiKey}` };
  const response = await fetch(`${url}/v1/events`, { headers, signal: ended.signal });
  expect(response.status).toBe(200);
  const got: Event[] = [];
  void read(response, got).catch(() => {});
  await expect.poll(() => got.length).toBe(1);
  expect(got).toEqual([{ event: 'ready', data: {} }]);
  return { got, end: () => ended.abort() };
}

async function read(response: Response, got: Event[]): Promise<void> {
  let text = '';
  for await (const bytes of response.body ?? []) {
    text += Buffer.from(bytes).toString();
    const blocks = text.split('\n\n');
    text = blocks.pop() ?? '';
    for (const block of blocks) {
      const [, event, data] = /^event: (\S+)\ndata: (.*)$/s.exec(block) ?? [];
      if (event && data) got.push({ event, data: JSON.parse(data) });
    }
  }
}

it('shows a sandbox from its creation to its deletion to its owner alone', { timeout: 120_000 }, async () => {
  const other = await person(service, 'Other');
  const mine = await follow(service);
  const theirs = await follow(other);
  const { id } = await must(service, 'CreateSandbox', { name: 'live', memory_gb: 1, disk_gb: 1 });
  const states = () => mine.got.filter(({ data }) => data['id'] === id).map(({ data }) => data['state']);
  await expect.poll(states).toContain('started');
  await must(service, 'SetSandboxLabels', { sandbox: id, labels: { a: 'b' } });
  const labels = () => mine.got.at(-1)?.data['labels'];
  await expect.poll(labels).toEqual({ a: 'b' });
  await must(service, 'StopSandbox', { sandbox: id });
  await expect.poll(states).toContain('stopped');
  await must(service, 'DeleteSandbox', { sandbox: id });
  await expect.poll(() => mine.got.at(-1)).toEqual({ event: 'sandbox_deleted', data: { id } });
  expect(theirs.got).toEqual([{ event: 'ready', data: {} }]);
  mine.end();
  theirs.end();
});
