/** What a save makes of the two sides that it stands between, where no real one can be made to behave so badly. */
import type { Readable } from 'node:stream';
import { setTimeout as pause } from 'node:timers/promises';
import { expect, it } from 'vitest';
import { type SandboxFiles, saveResult } from '../../../src/control/documents/save.ts';
import type { DocumentsQuery } from '../../../src/control/ports/index.ts';
import { notFound, SandhavenError } from '../../../src/model/errors.ts';

const caller = {
  id: 'usr_1',
  name: 'me',
  email: 'me@example.org',
  keyId: 'key',
  role: 'member' as const,
  keyExpiresAt: null,
  scopes: null,
};
const target = { sandbox: 'box', path: 'a.jsonl' };
const line = Buffer.from('{"_id":1}\n');

/** @param write Takes the place of a sandbox that the file may be written in. */
function save(lines: () => AsyncIterable<Uint8Array>, write: SandboxFiles['write']) {
  const exported = { count: 1, bytes: 10, fields: ['_id'], hasMore: false, notes: [] };
  const seen: AbortSignal[] = [];
  const query: DocumentsQuery = {
    sources: [],
    run: () => Promise.reject(new Error('It is not run.')),
    async export({ signal }) {
      if (signal) seen.push(signal);
      return { ...exported, lines: lines() };
    },
  };
  const files: SandboxFiles = { info: () => Promise.reject(notFound('file', 'None.')), write };
  return { seen, saved: saveResult(files, caller, query, target, { schemaOf: () => null }) };
}

it('a query that breaks while the sandbox’s own failure is on its way ends nothing but the save', async () => {
  const reading = Promise.withResolvers<void>();
  const lines = async function* () {
    yield line;
    await reading.promise;
    throw new SandhavenError('unavailable', 'The database broke.');
  };
  const { saved } = save(lines, async (_caller, _sandbox, { content }) => {
    for await (const _ of (content as Readable).iterator({
      destroyOnReturn: false,
    })) {
      break;
    }
    reading.resolve();
    await pause(20);
    throw new SandhavenError('invalid_state', 'It was stopped.', { parameter: 'sandbox' });
  });
  await expect(saved).rejects.toMatchObject({ code: 'unavailable', message: 'The database broke.' });
});

it('an agent that reports the end too early has saved nothing, and the query is ended', async () => {
  const lines = async function* () {
    yield line;
    await new Promise(() => {});
  };
  const { saved, seen } = save(lines, async (_caller, _sandbox, { content }) => {
    (content as Readable).read();
    await pause(20);
    return { bytesWritten: 0, created: true };
  });
  await expect(saved).rejects.toMatchObject({
    code: 'unavailable',
    message: expect.stringContaining('before all of it'),
  });
  expect(seen.map(({ aborted }) => aborted)).toEqual([true]);
});
