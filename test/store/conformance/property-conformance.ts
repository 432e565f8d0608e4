/** Whatever is done to the store, in whatever order, it answers as the plain model in memory does. */
import fc from 'fast-check';
import { expect, it } from 'vitest';
import type { SandboxPatch, Store } from '../../../src/control/ports/index.ts';
import { networkModes } from '../../../src/model/network/setting.ts';
import { type Sandbox, sandboxStates } from '../../../src/model/sandbox.ts';
import { alice, bob, sandboxId, sandboxRecord } from '../fixtures.ts';
import { memoryStore } from '../memory/memory-store.ts';

/** One call; its answer, or the code of its error, must be the same on both sides. */
type Step = { describe: string; call(store: Store): Promise<unknown> };

// Few values each, so that steps meet: taken names, stale generations, claims of the same sandbox.
const id = fc.integer({ min: 1, max: 6 }).map(sandboxId);
const owner = fc.constantFrom(alice.id, bob.id);
const name = fc.constantFrom('a', 'b', 'c', 'd');
const generation = fc.integer({ min: 1, max: 3 });
const time = fc.integer({ min: 0, max: 5 });
const text = fc.string({ unit: 'binary', maxLength: 3 });
const labels = fc.dictionary(fc.oneof(fc.constantFrom('k', 'l'), text), fc.constantFrom('1', '2'), {
  maxKeys: 3,
});
const envVars = fc.dictionary(text, fc.string({ unit: 'binary' }), { maxKeys: 3 });
const network = fc.record({
  mode: fc.constantFrom(...networkModes),
  profiles: fc.array(fc.constantFrom('git', 'llm'), { maxLength: 2 }),
  allow: fc.array(text, { maxLength: 2 }),
});
const state = fc.constantFrom(...sandboxStates);
const operation = fc.constantFrom<Sandbox['operation']>(null, null, null, 'creating', 'stopping', 'deleting');
const resources = fc.record({
  cpu: fc.integer({ min: 1, max: 16 }),
  memory: fc.integer({ min: 1, max: 64 }),
  disk: fc.constantFrom(20, 30),
  gpu: fc.integer({ min: 0, max: 8 }),
});

const contents = { digest: fc.string(), hmac: fc.string(), sizeBytes: fc.maxSafeNat() };
const localArchive = fc.record({ store: fc.constant('local' as const), ...contents });
const s3Archive = fc.record({
  ...{ store: fc.constant('s3' as const), bucket: fc.string(), key: fc.string() },
  ...contents,
});

const changeable = {
  name,
  state,
  operation,
  stateReason: fc.option(fc.string({ unit: 'grapheme' })),
  generation,
  runGeneration: fc.option(generation),
  entrypoint: fc.option(fc.array(fc.string(), { maxLength: 3 })),
  resources,
  resizeTarget: fc.option(resources),
  rollbackTo: fc.option(fc.string()),
  labels,
  envVars,
  user: fc.option(fc.constantFrom('ann', '1000')),
  network,
  autoStopMinutes: time,
  deadline: fc.option(
    fc.record({ at: time, action: fc.constantFrom('stop' as const, 'delete' as const, 'sleep' as const) }),
  ),
  sleep: fc.option(fc.record({ afterSeconds: fc.option(time), wakes: fc.boolean() })),
  ephemeral: fc.boolean(),
  archive: fc.option(fc.oneof(localArchive, s3Archive)),
  createdAt: time,
  lastActivityAt: time,
  stoppedAt: fc.option(time),
} satisfies { [K in keyof Sandbox]?: fc.Arbitrary<Sandbox[K]> };

const patch: fc.Arbitrary<SandboxPatch> = fc.record(changeable, { requiredKeys: [] });
const newSandbox = fc
  .record({ id, ownerId: fc.option(owner), ...changeable })
  .map((record) => sandboxRecord({ ...record, name: record.ownerId === null ? record.id : record.name }));
const filter = fc.record({ ownerId: owner, state, labels }, { requiredKeys: ['ownerId'] });
const page = fc.record({ page: fc.integer({ min: 1, max: 4 }), pageSize: fc.integer({ min: 1, max: 3 }) });

const step: fc.Arbitrary<Step> = fc.oneof(
  { weight: 6, arbitrary: newSandbox.map((box) => toStep(['insert', box], insertIfNew(box))) },
  {
    weight: 6,
    arbitrary: fc
      .tuple(id, generation, patch)
      .map((args) => toStep(['update', ...args], ({ sandboxes }) => sandboxes.update(...args))),
  },
  {
    weight: 2,
    arbitrary: fc
      .tuple(id, generation)
      .map((args) => toStep(['remove', ...args], ({ sandboxes }) => sandboxes.remove(...args))),
  },
  {
    weight: 3,
    arbitrary: fc
      .tuple(fc.constantFrom(20, 30), owner, patch, name)
      .map(([diskGb, ownerId, change, newName]) =>
        toStep(['claim', diskGb, ownerId, change, newName], ({ sandboxes }) =>
          sandboxes.claim({ imageDigest: 'sha256:base', diskGb }, { ...change, ownerId, name: newName }),
        ),
      ),
  },
  {
    weight: 2,
    arbitrary: fc
      .array(fc.tuple(id, time), { maxLength: 4 })
      .map((pairs) => toStep(['touch', pairs], ({ sandboxes }) => sandboxes.touch(new Map(pairs)))),
  },
  {
    weight: 3,
    arbitrary: fc
      .tuple(filter, page)
      .map((args) => toStep(['list', ...args], ({ sandboxes }) => sandboxes.list(...args))),
  },
  {
    weight: 2,
    arbitrary: fc
      .tuple(owner, fc.oneof(id, name))
      .map((args) => toStep(['find', ...args], ({ sandboxes }) => sandboxes.find(...args))),
  },
  {
    weight: 1,
    arbitrary: fc
      .tuple(owner, fc.integer({ min: 1, max: 3 }))
      .map((args) => toStep(['names', ...args], ({ sandboxes }) => sandboxes.names(...args))),
  },
);

/** @param place Makes the place of an empty store; `open` opens it, also a second time. */
export function propertyConformance<Place>(
  name: string,
  { runs, place, open }: { runs: number; place(): Promise<Place>; open(place: Place): Promise<Store> },
): void {
  it(`${name} answers as its model does, over any sequence of operations`, async () => {
    await fc.assert(
      fc.asyncProperty(fc.array(step, { maxLength: 30, size: 'max' }), async (steps) => {
        const where = await place();
        const model = memoryStore();
        const real = await open(where);
        try {
          await compare(real, model, steps);
        } finally {
          await real.close();
        }
        const reopened = await open(where);
        try {
          expect(await wholeOf(reopened)).toEqual(await wholeOf(model));
        } finally {
          await reopened.close();
        }
      }),
      { numRuns: runs },
    );
  }, 120_000);
}

async function compare(real: Store, model: Store, steps: Step[]): Promise<void> {
  for (const store of [real, model]) {
    await store.users.insertUser(alice);
    await store.users.insertUser(bob);
  }
  for (const { describe, call } of steps) {
    expect(await outcome(call(real)), describe).toEqual(await outcome(call(model)));
  }
  expect(await wholeOf(real)).toEqual(await wholeOf(model));
}

function toStep(words: unknown[], call: (store: Store) => Promise<unknown>): Step {
  return { describe: JSON.stringify(words), call };
}

/** Ids are drawn once in the life of a service, so the port says nothing of inserting one twice. */
function insertIfNew(box: Sandbox): (store: Store) => Promise<unknown> {
  return async ({ sandboxes }) => ((await sandboxes.get(box.id)) ? 'known' : sandboxes.insert(box));
}

async function outcome(call: Promise<unknown>): Promise<unknown> {
  try {
    return { answer: await call };
  } catch (error) {
    if (error instanceof Error && 'code' in error) return { code: error.code };
    throw error;
  }
}

async function wholeOf({ sandboxes }: Store) {
  return {
    all: await sandboxes.all(),
    pool: await sandboxes.pool(),
    archives: await sandboxes.archives('', 100),
    schedulable: (await sandboxes.schedulable()).sort((a, b) => (a.id < b.id ? -1 : 1)),
  };
}
