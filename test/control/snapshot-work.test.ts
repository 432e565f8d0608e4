/** Snapshots in the background, without a registry: how many at once, and what an end in between leaves. */
import { beforeEach, describe, expect, it } from 'vitest';
import { SnapshotWork } from '../../src/control/images/snapshot-work.ts';
import type { Image, Images } from '../../src/control/ports/index.ts';
import { notFound } from '../../src/model/errors.ts';
import { createAlone } from '../../src/store/rows/alone.ts';
import { snapshotRecord } from '../store/conformance/snapshot-conformance.ts';
import { memoryStore } from '../store/memory/memory-store.ts';

const SNAPSHOTS_PER_OWNER = 2;

const log = { info() {}, warn() {}, error() {} };
const image: Image = {
  ...{ digest: 'd', reference: 'r', env: {}, entrypoint: [], workingDir: '/' },
  ...{ sizeBytes: 7, madeAt: 1 },
};

let store: ReturnType<typeof memoryStore>;
let pulls: { reference: string; settle: (error?: Error) => void; progress: (done: number) => void }[];
let work: SnapshotWork;
/** Captured disks by snapshot, with their bytes. */
let captured: Map<string, number>;

/** To those who follow. */
let shown: string[];
let now: number;

beforeEach(() => {
  store = memoryStore();
  shown = [];
  now = 99;
  pulls = [];
  captured = new Map();
  work = newWork();
});

function newWork(): SnapshotWork {
  const use: Images['use'] = async (wanted, then, { signal, onProgress } = {}) => {
    await new Promise<void>((resolve, reject) => {
      const settle = (error?: Error) => (error ? reject(error) : resolve());
      const progress = (done: number) => onProgress?.({ message: 'Fetching', done, total: 9 });
      pulls.push({ reference: 'reference' in wanted ? wanted.reference : '', settle, progress });
      signal?.addEventListener('abort', () => reject(new Error('aborted')));
    });
    return then(image);
  };
  const images = { use } as unknown as Images;
  return new SnapshotWork({
    replicas: createAlone(),
    store: store.snapshots,
    images,
    runtime: {
      captures: {
        capture: async () => ({ sizeBytes: 0 }),
        stage: async () => {},
        putBack: async () => {},
        copy: async () => ({ sizeBytes: 0 }),
        release: () => {},
        sizeOf: async (id) => captured.get(id) ?? null,
        drop: async (id) => void captured.delete(id),
        collect: async () => {},
      },
    },
    unfinished: { add() {} },
    events: {
      changed: ({ name, state }) => void shown.push(`${name} ${state}`),
      progress: ({ name }, { message, done, total }) =>
        void shown.push(`${name} ${message} ${done}/${total}`),
    },
    clock: { now: () => now },
    log,
  });
}

async function begin(count: number) {
  const snapshots = Array.from({ length: count }, (_, at) =>
    snapshotRecord({ name: `n${at}`, image: `i${at}` }),
  );
  for (const snapshot of snapshots) {
    await store.snapshots.insert(snapshot);
    work.begin(snapshot);
  }
  return snapshots;
}

const state = async (name: string) => (await store.snapshots.find('user_alice', name))?.state;

describe('snapshots in the background', () => {
  it('are shown while they are made, with how far they are once a second', async () => {
    await begin(1);
    await expect.poll(() => pulls.length).toBe(1);
    for (const done of [1, 2, 3]) pulls[0]?.progress(done);
    now += 1_000;
    pulls[0]?.progress(4);
    pulls[0]?.settle();
    await expect.poll(() => shown).toEqual(['n0 pulling', 'n0 Fetching 1/9', 'n0 Fetching 4/9', 'n0 active']);
    await work.close();
  });

  it('are made a few at a time, in order', async () => {
    const most = SNAPSHOTS_PER_OWNER;
    await begin(most + 2);
    await expect.poll(() => pulls.length).toBe(most);
    expect(await state('n0')).toBe('pulling');
    expect(await state(`n${most}`)).toBe('pending');
    pulls[0]?.settle();
    await expect.poll(() => pulls.map(({ reference }) => reference)).toContain(`i${most}`);
    expect(await store.snapshots.find('user_alice', 'n0')).toMatchObject({
      state: 'active',
      imageDigest: 'd',
      sizeBytes: 7,
      updatedAt: 99,
    });
    await work.close();
  });

  it('of one owner wait behind his own alone', async () => {
    await begin(SNAPSHOTS_PER_OWNER + 2);
    const other = snapshotRecord({ ownerId: 'user_bob', name: 'his', image: 'of bob' });
    await store.snapshots.insert(other);
    work.begin(other);
    await expect.poll(() => pulls.map(({ reference }) => reference)).toEqual(['i0', 'i1', 'of bob']);
    await work.close();
  });

  it('[WIRE-SNAP-02] store the reason when they fail, without details of the host', async () => {
    await begin(2);
    await expect.poll(() => pulls.length).toBe(2);
    pulls[0]?.settle(notFound('image', 'There is no image i0.', 'Check its name.'));
    pulls[1]?.settle(new Error('secret /srv/path'));
    await expect.poll(() => state('n1')).toBe('error');
    await expect.poll(() => state('n0')).toBe('error');
    const reason = async (name: string) => (await store.snapshots.find('user_alice', name))?.stateReason;
    expect(await reason('n0')).toBe('There is no image i0. Check its name.');
    expect(await reason('n1')).not.toContain('secret');
  });

  it('are aborted when they are deleted, waiting or not, and store nothing afterwards', async () => {
    const most = SNAPSHOTS_PER_OWNER;
    const snapshots = await begin(most + 2);
    await expect.poll(() => pulls.length).toBe(most);
    const [running, waiting, last] = [snapshots[0], snapshots[most], snapshots[most + 1]];
    for (const gone of [running, waiting]) {
      await store.snapshots.delete(String(gone?.id));
      work.breakOff(String(gone?.id));
    }
    // The place that one had is the next one's.
    await expect.poll(() => pulls.map(({ reference }) => reference)).toContain(last?.image);
    expect(pulls.map(({ reference }) => reference)).not.toContain(waiting?.image);
    expect((await store.snapshots.list('user_alice', { page: 1, pageSize: 99 })).totalCount).toBe(most);
    work.breakOff('snap_none');
    await work.close();
  });

  it('are left as they are when the service ends, and taken up by the next', async () => {
    await begin(3);
    await expect.poll(() => pulls.length).toBe(2);
    await work.close();
    expect([await state('n0'), await state('n2')]).toEqual(['pulling', 'pending']);
    work = newWork();
    pulls = [];
    await work.resume();
    for (let at = 0; at < 3; at++) {
      await expect.poll(() => pulls.length).toBeGreaterThan(at);
      pulls[at]?.settle();
    }
    await expect.poll(() => state('n2')).toBe('active');
  });

  it('of sandboxes end with what a killed service has left of their disks: whole, or none', async () => {
    const source = { id: 'sb_1', name: 'box' };
    const [whole, lost] = ['whole', 'lost'].map((name) =>
      snapshotRecord({ name, source, imageDigest: 'd', sizeBytes: 1 }),
    );
    for (const one of [whole, lost]) if (one) await store.snapshots.insert(one);
    captured.set(String(whole?.id), 5_000);
    await work.resume();
    await expect.poll(() => state('lost')).toBe('error');
    await expect.poll(() => state('whole')).toBe('active');
    expect(await store.snapshots.find('user_alice', 'whole')).toMatchObject({ sizeBytes: 5_000 });
    expect(await store.snapshots.find('user_alice', 'lost')).toMatchObject({
      stateReason:
        'The service ended before the disk was captured. Delete the snapshot, and take another one.',
    });
    expect(pulls).toEqual([]);
    await work.close();
  });
});
