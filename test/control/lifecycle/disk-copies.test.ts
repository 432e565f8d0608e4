/** Archives and restores of one owner beside those of another. */
import { beforeEach, describe, expect, it } from 'vitest';
import { MachineWork } from '../../../src/control/lifecycle/machine-work.ts';
import type { Watches } from '../../../src/control/lifecycle/watches.ts';
import type { AgentLink, Images, MachineSpec, Runtime } from '../../../src/control/ports/index.ts';
import { sandboxRecord } from '../../store/fixtures.ts';

const archive = { store: 'local', digest: 'd', hmac: 'h', sizeBytes: 1 } as const;
const ALICE = 'user_alice';
const BOB = 'user_bob';

/** Copies in progress, by the id of their sandbox. */
let copying: Map<string, { end(): void; fail(error: Error): void }>;
let work: MachineWork;

beforeEach(() => {
  copying = new Map();
  const copy = (id: string) =>
    new Promise((resolve, reject) => {
      const over = (settle: () => void) => {
        copying.delete(id);
        settle();
      };
      copying.set(id, {
        end: () => over(() => resolve(archive)),
        fail: (error) => over(() => reject(error)),
      });
    });
  const nothing = async () => null;
  work = new MachineWork({
    runtime: {
      ...{ archive: copy, restore: ({ id }: MachineSpec) => copy(id) },
      ...{ inspect: nothing, assign: nothing, start: nothing },
    } as unknown as Runtime,
    images: {} as Images,
    agent: { hello: nothing } as unknown as AgentLink,
    watches: {} as Watches,
    networks: { put: async () => {} },
    ...{ secrets: { environment: async () => ({}) }, trust: { keep: async () => {} } },
    sessions: { keep: async () => {}, drop: async () => {} },
    saveArchive: nothing,
  });
});

const begin = (operation: 'archiving' | 'restoring', ownerId: string, id: string, signal?: AbortSignal) =>
  work.perform(
    sandboxRecord({ ...{ id, ownerId, operation, archive, entrypoint: null } }),
    signal ?? new AbortController().signal,
  );
const several = (operation: 'archiving' | 'restoring', ownerId: string, count: number) =>
  Array.from({ length: count }, (_, at) => begin(operation, ownerId, `${ownerId} ${at}`));
const inProgress = () => [...copying.keys()];

describe('one owner who archives a lot', () => {
  it('has two archives in progress, and another owner begins at once', async () => {
    const all = several('archiving', ALICE, 10);
    await expect.poll(inProgress).toEqual(['user_alice 0', 'user_alice 1']);
    const other = begin('archiving', BOB, 'of bob');
    await expect.poll(inProgress).toEqual(['user_alice 0', 'user_alice 1', 'of bob']);
    copying.get('of bob')?.end();
    await other;
    for (let at = 0; at < 10; at++) {
      await expect.poll(inProgress).toContain(`user_alice ${at}`);
      expect(copying.size).toBeLessThanOrEqual(2);
      copying.get(`user_alice ${at}`)?.end();
    }
    await Promise.all(all);
  });

  it('delays no restore', async () => {
    void several('archiving', ALICE, 10);
    void begin('restoring', ALICE, 'restored');
    await expect.poll(inProgress).toEqual(['user_alice 0', 'user_alice 1', 'restored']);
  });

  it('is refused past 64 that wait, before anything happens, and may try again', async () => {
    void several('archiving', ALICE, 66);
    await expect(begin('archiving', ALICE, 'one more')).rejects.toMatchObject({
      code: 'resource_exhausted',
      fields: { retryable: true },
    });
    expect(inProgress()).toEqual(['user_alice 0', 'user_alice 1']);
  });
});

it('restores four disks of one owner at once, and eight in all', async () => {
  void several('restoring', ALICE, 6);
  await expect.poll(() => copying.size).toBe(4);
  void several('restoring', BOB, 6);
  await expect.poll(() => copying.size).toBe(8);
  expect(inProgress().filter((id) => id.startsWith(BOB))).toHaveLength(4);
});

it('gives the place of a failed archive to the next one', async () => {
  const [first] = several('archiving', ALICE, 3);
  await expect.poll(() => copying.size).toBe(2);
  copying.get('user_alice 0')?.fail(new Error('broken'));
  await expect(first).rejects.toThrow('broken');
  await expect.poll(inProgress).toEqual(['user_alice 1', 'user_alice 2']);
});

it('ends the wait of an archive that is broken off', async () => {
  void several('archiving', ALICE, 2);
  const breaking = new AbortController();
  const third = begin('archiving', ALICE, 'third', breaking.signal);
  breaking.abort(new Error('deleted'));
  await expect(third).rejects.toThrow('deleted');
  expect(inProgress()).not.toContain('third');
});
