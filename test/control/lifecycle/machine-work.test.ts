/** Work of each operation: its steps, their order, and what a failure half-way leaves. */
import { beforeEach, describe, expect, it } from 'vitest';
import { MachineWork } from '../../../src/control/lifecycle/machine-work.ts';
import type { Watches } from '../../../src/control/lifecycle/watches.ts';
import type { AgentLink, Image, Images, Observed, Runtime } from '../../../src/control/ports/index.ts';
import type { Operation, Sandbox } from '../../../src/model/sandbox.ts';
import { sandboxRecord } from '../../store/fixtures.ts';

const archive = { store: 'local', digest: 'd', hmac: 'h', sizeBytes: 1 } as const;
const { signal } = new AbortController();
const sizes = { cpu: 2, memory: 4, disk: 20, gpu: 0 };

/** Steps with their arguments, in the order of their beginnings. */
let steps: unknown[][];
/** Work on logs of sessions, with the steps before it. */
let ofSessions: [done: string, id: string, after: unknown[]][];
/** Work of steps by name; the others do nothing. */
let during: Record<string, () => Promise<unknown>>;
let image: Partial<Image> | null;
let work: MachineWork;

beforeEach(() => {
  steps = [];
  ofSessions = [];
  during = {};
  image = { workingDir: '/app', env: { LANG: 'de', A: 'image', B: 'image' } };
  work = new MachineWork({
    runtime: {
      ...{ assign: step('assign'), start: step('start'), stop: step('stop'), destroy: step('destroy') },
      ...{ inspect: step('inspect'), restore: step('restore'), archive: step('archive') },
      ...{ resizeLive: step('resizeLive'), growDisk: step('growDisk') },
      ...{ dropDisk: step('dropDisk'), dropArchive: step('dropArchive') },
    } as unknown as Runtime,
    images: { get: async () => image } as unknown as Images,
    agent: { hello: step('hello'), startBackground: step('startBackground') } as unknown as AgentLink,
    watches: { end: step('endWatch') } as unknown as Watches,
    networks: { put: ({ id, network }) => step('setNetwork')(id, network.mode).then(() => {}) },
    secrets: {
      environment: async ({ secretIds }) => Object.fromEntries(secretIds.map((id) => [id, 'placeholder'])),
    },
    trust: { keep: async ({ id, secretIds }) => void (secretIds.length > 0 && (await step('trust')(id))) },
    sessions: {
      keep: async (id) => void ofSessions.push(['keep', id, names()]),
      drop: async (id) => void ofSessions.push(['drop', id, names()]),
    },
    saveArchive: step('saveArchive'),
  });
});

function step(name: string) {
  return (...given: unknown[]): Promise<unknown> => {
    steps.push([name, ...given]);
    return during[name]?.() ?? Promise.resolve();
  };
}

const names = () => steps.map(([name]) => name);
const fails = (message: string) => () => Promise.reject(new Error(message));

function box(operation: Operation | null, overrides: Partial<Sandbox> = {}): Sandbox {
  return sandboxRecord({ ...{ id: 'sb_1', operation, state: 'stopped', generation: 7 }, ...overrides });
}

const perform = (operation: Operation | null, overrides: Partial<Sandbox> = {}) =>
  work.perform(box(operation, overrides), signal);

it('[WIRE-SESSION-14] keeps the logs of sessions before a stop, and drops them after a start', async () => {
  await perform('stopping');
  expect(ofSessions).toEqual([['keep', 'sb_1', ['endWatch']]]);
  await perform('stopping', { ephemeral: true });
  expect(ofSessions).toHaveLength(1);
  during['start'] = fails('no room');
  await expect(perform('starting')).rejects.toThrow('no room');
  expect(ofSessions).toHaveLength(1);
  during = {};
  steps = [];
  await perform('starting');
  expect(ofSessions[1]).toEqual(['drop', 'sb_1', ['assign', 'setNetwork', 'start', 'hello']]);
});

describe('a start', () => {
  it.each([[null], [[]]])(
    'assigns the owner, puts the network in force, starts the machine, and waits for its agent; entrypoint %o',
    async (entrypoint) => {
      await perform('starting', { entrypoint });
      expect(steps).toEqual([
        ['assign', 'sb_1', 'user_alice'],
        ['setNetwork', 'sb_1', 'open'],
        ['start', { id: 'sb_1', imageDigest: 'sha256:base', resources: sizes }, 7, { signal }],
        ['hello', 'sb_1', 7],
      ]);
    },
  );

  it('[WIRE-SNAP-06] starts the entrypoint last, in the folder and environment of its image', async () => {
    await perform('starting', { entrypoint: ['serve', '-v'], envVars: { B: 'sandbox' } });
    expect(names()).toEqual(['assign', 'setNetwork', 'start', 'hello', 'startBackground']);
    const env = expect.objectContaining({ HOME: '/root', LANG: 'de', A: 'image', B: 'sandbox' });
    expect(steps[4]).toEqual(['startBackground', 'sb_1', { argv: ['serve', '-v'], cwd: '/app', env }]);
  });

  it('of a sandbox with secrets makes programs trust its certificate before the entrypoint starts', async () => {
    await perform('starting', {
      entrypoint: ['serve'],
      secretIds: ['SECRET', 'B'],
      envVars: { B: 'sandbox' },
    });
    expect(names()).toEqual(['assign', 'setNetwork', 'start', 'hello', 'trust', 'startBackground']);
    expect(steps[4]).toEqual(['trust', 'sb_1']);
    expect(steps[5]?.[2]).toMatchObject({ env: { SECRET: 'placeholder', A: 'image', B: 'sandbox' } });
  });

  it.each([{ workingDir: '', env: {} }, null])(
    'starts an entrypoint at the root for the image %o',
    async (given) => {
      image = given;
      await perform('starting', { entrypoint: ['serve'] });
      expect(steps[4]?.[2]).toMatchObject({ cwd: '/' });
    },
  );

  it.each([
    ['setNetwork', ['assign', 'setNetwork']],
    ['start', ['assign', 'setNetwork', 'start']],
    ['hello', ['assign', 'setNetwork', 'start', 'hello']],
  ])('ends at a failed %s', async (failing, expected) => {
    during[failing] = fails('broken');
    await expect(perform('starting', { entrypoint: ['serve'] })).rejects.toThrow('broken');
    expect(names()).toEqual(expected);
  });
});

describe('a start from an archive', () => {
  const restore = () => perform('restoring', { state: 'archived', archive });
  const runs = (runningGeneration: number | null): Observed => ({
    ...{ id: 'sb_1', runningGeneration, hasDisk: true, hasArchive: true },
  });

  it.each([null, runs(null)])(
    '[SBX-STATE-09] restores the disk by its record, then starts (%o)',
    async (seen) => {
      during['inspect'] = async () => seen;
      await restore();
      expect(names()).toEqual(['inspect', 'restore', 'assign', 'setNetwork', 'start', 'hello']);
      const spec = { id: 'sb_1', imageDigest: 'sha256:base', resources: sizes };
      expect(steps[1]).toEqual(['restore', spec, 7, archive, { signal }]);
    },
  );

  it('leaves the disk alone that a machine of this very generation uses', async () => {
    during['inspect'] = async () => runs(7);
    await restore();
    expect(names()).toEqual(['inspect', 'assign', 'setNetwork', 'start', 'hello']);
  });

  it('stops a machine of another generation before it replaces the disk', async () => {
    during['inspect'] = async () => runs(6);
    await restore();
    expect(names()).toEqual(['inspect', 'stop', 'restore', 'assign', 'setNetwork', 'start', 'hello']);
    expect(steps[1]).toEqual(['stop', 'sb_1', 0, 7]);
  });

  it('starts nothing after a failed restore', async () => {
    during['restore'] = fails('forged');
    await expect(restore()).rejects.toThrow('forged');
    expect(names()).toEqual(['inspect', 'restore']);
  });
});

it.each([
  ['a stop gives the machine 2 s', 'stopping', {}, ['stop', 'sb_1', 2_000, 7]],
  [
    '[SBX-STATE-10] a stop destroys an ephemeral sandbox',
    'stopping',
    { ephemeral: true },
    ['destroy', 'sb_1'],
  ],
  [
    '[SBX-AUTO-06] a stop with auto_delete_minutes 0 destroys',
    'stopping',
    { autoDeleteMinutes: 0 },
    ['destroy', 'sb_1'],
  ],
  ['[SBX-STATE-11] a delete destroys the sandbox', 'deleting', {}, ['destroy', 'sb_1']],
] as const)('%s, after the end of its watch', async (_, operation, overrides, last) => {
  await perform(operation, { state: 'started', ...overrides });
  expect(steps).toEqual([['endWatch', 'sb_1'], last]);
});

describe('an archive', () => {
  it('is written, then its record is saved, before anything else changes', async () => {
    const saving = Promise.withResolvers<void>();
    during['archive'] = async () => archive;
    during['saveArchive'] = () => saving.promise;
    const sandbox = box('archiving');
    let done = false;
    const performing = work.perform(sandbox, signal).then(() => {
      done = true;
    });
    await expect.poll(names).toEqual(['archive', 'saveArchive']);
    expect(steps).toEqual([
      ['archive', 'sb_1', 7, { signal }],
      ['saveArchive', sandbox, archive],
    ]);
    expect(done).toBe(false);
    saving.resolve();
    await performing;
    expect(steps).toHaveLength(2);
  });

  it('fails with its record', async () => {
    during['saveArchive'] = fails('no room');
    await expect(perform('archiving')).rejects.toThrow('no room');
  });
});

describe('a resize', () => {
  const larger = { cpu: 4, memory: 8, disk: 20, gpu: 0 };

  it('[SBX-RESIZE-03] of a running machine is live', async () => {
    await perform('resizing', { state: 'started', resizeTarget: larger });
    expect(steps).toEqual([['resizeLive', 'sb_1', larger]]);
  });

  it('of a stopped sandbox grows its disk', async () => {
    await perform('resizing', { resizeTarget: { ...larger, disk: 30 } });
    expect(steps).toEqual([['growDisk', 'sb_1', 30]]);
  });

  it('[SBX-RESIZE-05] of cpu and memory of a stopped sandbox has no work', async () => {
    await perform('resizing', { resizeTarget: { ...sizes, cpu: 1, memory: 1 } });
    expect(steps).toEqual([]);
  });
});

it.each([
  ['restoring', /without an archive/],
  ['resizing', /resizing to nothing/],
  ['creating', /no operation to carry out/],
  [null, /no operation to carry out/],
] as const)(
  'a row whose operation %s has nothing to work on is a defect, and changes nothing',
  async (operation, message) => {
    await expect(perform(operation)).rejects.toThrow(message);
    expect(steps).toEqual([]);
  },
);
