/** Trust in the certificate of a sandbox's secrets: a start goes on without it, and it is tried again where that helps. */
import { beforeEach, describe, expect, it } from 'vitest';
import { Unfinished } from '../../../src/concurrency/unfinished.ts';
import { SandboxTrust } from '../../../src/control/reach/sandbox-trust.ts';
import { notFound, SandhavenError } from '../../../src/model/errors.ts';
import type { Sandbox } from '../../../src/model/sandbox.ts';
import { sandboxRecord } from '../../store/fixtures.ts';

const box = sandboxRecord({ id: 'sb_1', secretIds: ['se_1'] });

let row: Sandbox | null;
let fault: Error | null;
let trusted: string[];
let applied: string[];
let logged: string[];
let failed: string[];
let unfinished: Unfinished;
let trust: SandboxTrust;

beforeEach(() => {
  [row, fault, trusted, applied, logged, failed] = [box, null, [], [], [], []];
  unfinished = new Unfinished((work) => failed.push(work));
  trust = new SandboxTrust({
    runtime: { authority: (id) => `certificate of ${id}` },
    agent: {
      async trust(id, certificate) {
        if (fault) throw fault;
        trusted.push(`${id}: ${certificate}`);
      },
    },
    async inTurn(_, work) {
      if (!row) throw notFound('sandbox', 'gone');
      await work(row);
    },
    networks: { apply: async ({ id }) => void applied.push(id) },
    unfinished,
    log: { info() {}, warn: (message) => void logged.push(message), error() {} },
  });
});

it('is for sandboxes with secrets alone', async () => {
  await trust.put(box);
  await trust.put({ ...box, secretIds: [] });
  expect(trusted).toEqual(['sb_1: certificate of sb_1']);
});

it('comes before the secrets of a running sandbox are in force', async () => {
  await trust.apply({ ...box, state: 'stopped' });
  expect([trusted, applied]).toEqual([[], []]);
  await trust.apply(box);
  expect([trusted, applied]).toEqual([['sb_1: certificate of sb_1'], ['sb_1']]);
});

describe('a failure', () => {
  it('does not fail a start, and is tried again in the turn of the sandbox', async () => {
    fault = new Error('no');
    await trust.keep(box);
    expect(logged).toEqual(['a sandbox does not trust the certificate of its secrets']);
    fault = null;
    await unfinished.turn();
    await unfinished.turn();
    expect([trusted, applied]).toEqual([['sb_1: certificate of sb_1'], ['sb_1']]);
  });

  it.each(['resource_exhausted', 'invalid_argument', 'failed_precondition'] as const)(
    'that the owner mends is left to the next start: %s',
    async (code) => {
      fault = new SandhavenError(code, 'The disk is full.');
      await trust.keep(box);
      fault = null;
      await unfinished.turn();
      expect(trusted).toEqual([]);
    },
  );

  it('is the answer of a call, with its cause', async () => {
    fault = new SandhavenError('resource_exhausted', 'The disk is full.');
    await expect(trust.apply(box)).rejects.toMatchObject({
      code: 'unavailable',
      message: expect.stringMatching(/The secret is stored.*The disk is full\.$/),
    });
    expect(applied).toEqual([]);
  });

  it.each([
    ['is gone', null],
    ['has stopped', { ...box, state: 'stopped' as const }],
  ])('is forgotten when the sandbox %s', async (_, next) => {
    fault = new Error('no');
    await trust.keep(box);
    [row, fault] = [next, null];
    await unfinished.turn();
    expect([trusted, failed]).toEqual([[], []]);
  });
});
