/**
 * A large result on its way into a sandbox when one of the three parts goes away. Each time the error says which side
 * failed, no file is there, nothing else is left beside it, and the server's cursor is gone.
 */
import { readFileSync } from 'node:fs';
import { afterAll, beforeAll, beforeEach, describe, expect, it, vi } from 'vitest';
import { must } from '../support/service.ts';
import { openProxy } from './connection/proxy.ts';
import { cursorsRead, expectForgotten } from './queries/cursors.ts';
import { connectionStringAt, useTestDatabase } from './server.ts';
import { type Parameters, useService } from './service.ts';

/** Lines of 100 kB: 100 MB of them, seven answers of the server; fewer where all are read; for the memory of the service 200 MB. */
const large = copies(10);
const readWhole = copies(5);
const larger = copies(20);
const LARGER_COUNT = 2_000;
/** Of the second answer, so that a part of the first one is in the sandbox. */
const MIDDLE_BYTES = 8_000_000;

const database = useTestDatabase({
  some: Array.from({ length: 100 }, (_, index) => ({ _id: index as never, pad: 'x'.repeat(100_000) })),
});
const some = { database_name: database.name, collection_name: 'some' };
const proxy = await openProxy();
const documents = useService(() => ({ DOCUMENTDB_CONNECTION_STRING: connectionStringAt(proxy.port) }));
const target = { save_to_sandbox: 'target', save_to_path: 'data/new.jsonl' };

beforeAll(async () => {
  await createSandbox('target');
  await documents.explore(database.name, ['some']);
}, 120_000);

afterAll(() => proxy.close());

/** So that what one test leaves is not the next one's. */
beforeEach(async () => {
  const command = 'rm -rf /var/filler data && mkdir data && echo before > data/kept.jsonl';
  await must(documents.service, 'RunCommand', { sandbox: 'target', command });
});

async function createSandbox(name: string): Promise<void> {
  await must(documents.service, 'CreateSandbox', { name, cpu: 1, memory_gb: 1, disk_gb: 1 });
  await must(documents.service, 'WriteFile', { sandbox: name, path: 'data/kept.jsonl', content: 'before\n' });
}

/** Until a cursor that nobody had read by then is read on: what is left of earlier answers may still come too. */
async function untilMiddle(readBefore: number): Promise<void> {
  const patience = { timeout: 60_000, interval: 10 };
  await vi.waitUntil(() => cursorsRead(proxy).length > readBefore, patience);
  const before = proxy.receivedBytes;
  await vi.waitUntil(() => proxy.receivedBytes > before + MIDDLE_BYTES, patience);
}

/** @param goAway Called once a part of the result has come. */
async function interrupted(goAway: () => Promise<unknown>, to: Parameters = target, pipeline = large) {
  const read = cursorsRead(proxy).length;
  const saving = documents.ask('AggregateDocuments', { ...some, pipeline, ...to });
  // Awaited below, when it may have failed already.
  saving.catch(() => {});
  await untilMiddle(read);
  await goAway();
  return (await saving).body;
}

/** Of everything that is in the folder. */
async function expectUntouched(): Promise<void> {
  const { stdout } = await must(documents.service, 'RunCommand', {
    sandbox: 'target',
    command: 'head --bytes 100 data/* && ls -A data /workspace',
  });
  expect(stdout).toBe('before\n/workspace:\ndata\n\ndata:\nkept.jsonl\n');
}

/** @param readBefore How many cursors had been read by then. */
async function expectCursorsGone(readBefore: number): Promise<void> {
  const name = { database: database.name, collection: 'some' };
  await expectForgotten(proxy, database.client, cursorsRead(proxy).slice(readBefore), name);
}

async function expectGoesOn(): Promise<void> {
  expect(await documents.ok('CountDocuments', some)).toMatchObject({ result: 100 });
}

describe('in the middle of a save', () => {
  it('the sandbox is stopped', async () => {
    const read = cursorsRead(proxy).length;
    const problem = await interrupted(() => must(documents.service, 'StopSandbox', { sandbox: 'target' }));
    expect(problem).toMatchObject({
      code: 'invalid_state',
      parameter: 'save_to_sandbox',
      detail: expect.stringContaining("'target' was stopped"),
      hint: expect.stringContaining('StartSandbox'),
    });
    await expectCursorsGone(read);
    await must(documents.service, 'StartSandbox', { sandbox: 'target' });
    await expectUntouched();
    await expectGoesOn();
  }, 120_000);

  it('the sandbox is deleted', async () => {
    await createSandbox('short-lived');
    const read = cursorsRead(proxy).length;
    const problem = await interrupted(
      () => must(documents.service, 'DeleteSandbox', { sandbox: 'short-lived' }),
      { ...target, save_to_sandbox: 'short-lived' },
    );
    expect(problem).toMatchObject({
      code: 'invalid_state',
      parameter: 'save_to_sandbox',
      detail: expect.stringContaining("'short-lived' was deleted"),
    });
    await expectCursorsGone(read);
    await expectGoesOn();
  }, 120_000);

  it('the disk is full', async () => {
    const read = cursorsRead(proxy).length;
    const filler =
      'fallocate --length $(($(df --output=avail --block-size=1 /workspace | tail -1) - 50000000)) /var/filler';
    await must(documents.service, 'RunCommand', { sandbox: 'target', command: filler });
    const { body: problem } = await documents.ask('AggregateDocuments', {
      ...some,
      pipeline: large,
      ...target,
    });
    expect(problem).toMatchObject({
      code: 'resource_exhausted',
      detail: "The sandbox's disk is full.",
      hint: expect.stringContaining('ResizeSandbox'),
      retryable: false,
    });
    await expectCursorsGone(read);
    await expectUntouched();
    await expectGoesOn();
  }, 120_000);

  it('[WIRE-HTTP-08] the client goes', async () => {
    const read = cursorsRead(proxy).length;
    const client = new AbortController();
    const { url, apiKey } = documents.service;
    const saving = fetch(`${url}/v1/tools/DocumentDb.AggregateDocuments`, {
      method: 'POST',
      headers: { authorization: `Bearer ${apiKey}`, 'content-type': 'application/json' },
      body: JSON.stringify({ ...some, pipeline: large, ...target }),
      signal: client.signal,
    });
    const gone = expect(saving).rejects.toThrow();
    await untilMiddle(read);
    client.abort();
    await gone;
    await expectCursorsGone(read);
    await vi.waitFor(expectUntouched, { timeout: 20_000, interval: 200 });
    await expectGoesOn();
  }, 120_000);

  it('[WIRE-DB-21] somebody else makes the file: it stays theirs', async () => {
    const read = cursorsRead(proxy).length;
    const content = 'theirs\n';
    const write = () =>
      must(documents.service, 'WriteFile', { sandbox: 'target', path: 'data/new.jsonl', content });
    const problem = await interrupted(write, target, readWhole);
    expect(problem).toMatchObject({ code: 'already_exists', parameter: 'save_to_path' });
    const theirs = await must(documents.service, 'ReadFile', { sandbox: 'target', path: 'data/new.jsonl' });
    expect(theirs).toMatchObject({ content });
    await must(documents.service, 'DeleteFile', { sandbox: 'target', path: 'data/new.jsonl' });
    // It was read to its end, so the server has nothing to notice.
    const cursors = cursorsRead(proxy).slice(read);
    expect(cursors.length).toBeGreaterThan(0);
    const answer = await database.client.db(database.name).command({ killCursors: 'some', cursors });
    expect(answer['cursorsKilled']).toEqual([]);
    await expectUntouched();
  }, 120_000);

  it('the database goes', async () => {
    const problem = await interrupted(() => proxy.cut());
    expect(problem).toMatchObject({
      code: 'unavailable',
      detail: expect.stringContaining('document database'),
      retryable: true,
    });
    await expectUntouched();
    await proxy.resume();
    await vi.waitFor(expectGoesOn, { timeout: 20_000, interval: 200 });
  }, 120_000);

  it('the service is stopped, and what is left of the result does not come soon', async () => {
    let status: number | null = null;
    const saving = interrupted(async () => {
      proxy.silence();
      status = await documents.service.terminate();
      await proxy.cut();
      await proxy.resume();
    });
    await saving.catch(() => {});
    expect(status).toBe(0);
    await documents.service.restart();
    await expectUntouched();
    await documents.explore(database.name, ['some']);
    await expectGoesOn();
  }, 120_000);
});

it('holds little of what it saves', async () => {
  const save = (limit: number) => {
    const save_to_path = `data/first-${limit}.jsonl`;
    return documents.ok('AggregateDocuments', { ...some, pipeline: larger, limit, ...target, save_to_path });
  };
  await save(100);
  const before = residentBytes();
  let most = before;
  const watch = setInterval(() => {
    most = Math.max(most, residentBytes());
  }, 20);
  const { saved } = await save(LARGER_COUNT).finally(() => clearInterval(watch));
  expect(saved).toMatchObject({ count: LARGER_COUNT });
  expect((saved as { size_bytes: number }).size_bytes).toBeGreaterThan(200_000_000);
  // Two answers of the server, of 16 MB each, as they come and in one piece.
  expect(most - before).toBeLessThan(150_000_000);
}, 240_000);

/** A pipeline that returns each document of the collection so many times. */
function copies(count: number): string[] {
  return [`{"$addFields": {"n": {"$range": [0, ${count}]}}}`, '{"$unwind": "$n"}'];
}

function residentBytes(): number {
  const status = readFileSync(`/proc/${documents.service.pid}/status`, 'utf8');
  return Number(/^VmRSS:\s+(\d+) kB/m.exec(status)?.[1]) * 1024;
}
