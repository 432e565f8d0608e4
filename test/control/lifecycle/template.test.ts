/** Template of a new sandbox: base image, container image or snapshot, and the refusals of each. */
import { beforeEach, describe, expect, it } from 'vitest';
import { type TemplateRequest, templateOf } from '../../../src/control/lifecycle/template.ts';
import type { SnapshotStore } from '../../../src/control/ports/index.ts';
import type { Snapshot } from '../../../src/model/snapshot.ts';
import { snapshotRecord } from '../../store/conformance/snapshot-conformance.ts';
import { alice, bob } from '../../store/fixtures.ts';
import { memoryStore } from '../../store/memory/memory-store.ts';

const sizes = { cpu: 3, memory: 5, disk: 30, gpu: 1 };
const id = 'snap_0123456789abcdef';

let store: SnapshotStore;

beforeEach(() => {
  store = memoryStore().snapshots;
});

const template = (request: Partial<TemplateRequest> & Record<string, unknown> = {}) =>
  templateOf(store, alice, { ...sizes, ...request });

async function have(overrides: Partial<Snapshot> = {}): Promise<void> {
  await store.insert(
    snapshotRecord({
      ...{ id, name: 'tools', state: 'active', image: 'debian:13', imageDigest: 'sha256:debian' },
      ...{ entrypoint: ['serve'], resources: { cpu: 1, memory: 2, disk: 8, gpu: 0 } },
      ...overrides,
    }),
  );
}

describe('without a snapshot', () => {
  it('[SBX-CREATE-01, WIRE-BOX-24] the base image is the template, with the four given sizes', async () => {
    expect(await template({ name: 'demo', labels: {} })).toEqual({
      wanted: { reference: 'base' },
      snapshot: null,
      image: 'base',
      entrypoint: null,
      resources: { cpu: 3, memory: 5, disk: 30, gpu: 1 },
      user: null,
      network: null,
      imageConfig: null,
      captureId: null,
    });
  });

  it('[SBX-CREATE-10] a given image is the template, with the four given sizes', async () => {
    expect(await template({ image: 'debian:13' })).toEqual({
      wanted: { reference: 'debian:13' },
      snapshot: null,
      image: 'debian:13',
      entrypoint: null,
      resources: { cpu: 3, memory: 5, disk: 30, gpu: 1 },
      user: null,
      network: null,
      imageConfig: null,
      captureId: null,
    });
  });
});

describe('a snapshot', () => {
  it.each(['tools', id])(
    '[SBX-CREATE-09, SBX-CREATE-17] by name or id (%s) brings image, entrypoint, sizes, user and network',
    async (snapshot) => {
      const network = { mode: 'rules' as const, profiles: ['git'], allow: [] };
      await have({ network, user: 'ann' });
      expect(await template({ snapshot })).toEqual({
        wanted: { digest: 'sha256:debian' },
        snapshot: 'tools',
        image: 'debian:13',
        entrypoint: ['serve'],
        resources: { cpu: 1, memory: 2, disk: 8, gpu: 0 },
        user: 'ann',
        network,
        imageConfig: null,
        captureId: null,
      });
    },
  );

  it('of a sandbox brings its disk', async () => {
    await have({ source: { id: 'sb_0123456789abcdef', name: 'gone' } });
    expect(await template({ snapshot: 'tools' })).toMatchObject({ captureId: id, image: 'debian:13' });
  });

  it.each(['base', 'snap_base000000000000'])(
    '[WIRE-BOX-20] %s is the base image in its default sizes',
    async (snapshot) => {
      await have({ name: 'base' });
      expect(await template({ snapshot })).toEqual({
        wanted: { reference: 'base' },
        snapshot: 'base',
        image: 'base',
        entrypoint: null,
        resources: { cpu: 2, memory: 4, disk: 20, gpu: 0 },
        user: null,
        network: null,
        imageConfig: null,
        captureId: null,
      });
    },
  );

  it.each(['tools', 'base'])('[SBX-CREATE-08] %s together with an image is refused', async (snapshot) => {
    await have();
    await expect(template({ snapshot, image: 'base' })).rejects.toMatchObject({
      code: 'invalid_argument',
      message: 'snapshot and image are mutually exclusive; both were given.',
      fields: { parameter: 'snapshot' },
    });
  });

  it('of nobody, or of another user, is not found', async () => {
    await have({ ownerId: bob.id });
    const missing = { code: 'not_found', fields: { resource: 'snapshot' } };
    await expect(template({ snapshot: 'tools' })).rejects.toMatchObject(missing);
    await expect(template({ snapshot: id })).rejects.toMatchObject(missing);
    await expect(template({ snapshot: '' })).rejects.toMatchObject(missing);
  });

  it.each(['pending', 'pulling'] as const)('[WIRE-SNAP-05] is refused while it is %s', async (state) => {
    await have({ state, imageDigest: null });
    await expect(template({ snapshot: 'tools' })).rejects.toMatchObject({
      code: 'invalid_state',
      message: `Snapshot 'tools' is ${state}; it must be active.`,
      fields: { parameter: 'snapshot', retryable: true },
    });
  });

  it('[WIRE-SNAP-05] is refused while it is not active, even when its image is there', async () => {
    await have({ state: 'pulling' });
    await expect(template({ snapshot: 'tools' })).rejects.toMatchObject({ code: 'invalid_state' });
  });

  it.each([
    ['There is no image debian:99.', 'There is no image debian:99.'],
    [null, 'it could not be made.'],
  ])('[WIRE-SNAP-05] in error is refused for good, with its reason (%s)', async (stateReason, shown) => {
    await have({ state: 'error', stateReason, imageDigest: null });
    await expect(template({ snapshot: 'tools' })).rejects.toMatchObject({
      code: 'invalid_state',
      message: `Snapshot 'tools' is in error: ${shown}`,
      fields: { parameter: 'snapshot', retryable: false },
    });
  });
});
