/** The order of an archive and of a restore on a cluster, and what each failure leaves, over parts in memory. */
import { Readable } from 'node:stream';
import { buffer } from 'node:stream/consumers';
import { beforeEach, describe, expect, it } from 'vitest';
import { SandhavenError } from '../../src/model/errors.ts';
import type { ArchiveLocation, ArchiveRecord, Resources } from '../../src/model/sandbox.ts';
import type { ArchivePlace } from '../../src/runtime/archives/places.ts';
import { type Archives, createArchives } from '../../src/runtime/kubernetes/archives/archives.ts';
import type { Claim, Pod } from '../../src/runtime/kubernetes/client/objects.ts';
import { testEncryption } from '../archives/test-encryption.ts';

const ID = 'sb_0123456789abcdef';
const spec = { id: ID, imageDigest: 'base', resources: { cpu: 1, memory: 1, disk: 1, gpu: 0 } };
const never = new AbortController().signal;
const annotated = (generation: number, others: Record<string, string> = {}) => ({
  metadata: {
    name: 'sandbox',
    annotations: { 'sandhaven.dev/generation': String(generation), ...others },
  },
});

/** Steps in order. */
let steps: string[];
/** Objects of the bucket, by key. */
let objects: Map<string, Buffer>;
let note: ArchiveLocation | null;
let pod: Pod | null;
/** Content of the disk; null without one. */
let disk: Buffer | null;
/** Failures of steps, by name. */
let failing: Record<string, Error>;
let archives: Archives;
/** Of the carriers. */
let sizes: Resources[];
/** Size that the newest note says, and the one that a new claim was made with. */
let [notedBytes, renewedGb] = [0, 0];

function step(name: string): void {
  steps.push(name);
  if (failing[name]) throw failing[name];
}

beforeEach(() => {
  [steps, sizes] = [[], []];
  objects = new Map();
  [note, pod, disk, failing] = [null, null, Buffer.from('content'.repeat(10_000)), {}];
  archives = open();
});

function open({
  chosen = true,
  installationKey = Buffer.alloc(32, 1),
  encryption = testEncryption({ encrypts: false }),
} = {}): Archives {
  let made = 0;
  const place = {
    locate: () => ({ store: 's3', bucket: 'b', key: `key ${++made}` }),
    async put(_id, location, bytes) {
      const whole = await buffer(bytes);
      step('put');
      objects.set(keyOf(location), whole);
      return whole.length;
    },
    async get(_id, location) {
      step('get');
      const bytes = objects.get(keyOf(location));
      return bytes ? { sizeBytes: bytes.length, bytes: Readable.from([bytes]) } : null;
    },
    async remove(_id, location) {
      step('remove the object');
      objects.delete(keyOf(location));
    },
  } as Partial<ArchivePlace> as ArchivePlace;
  return createArchives({
    pods: {
      read: async () => pod,
      create: async () => null,
      async remove() {
        step('remove the Pod');
        pod = null;
      },
    },
    claims: {
      async hold(_id, generation) {
        step('hold');
        return claim(generation);
      },
      async renew(_id, generation, diskGb) {
        step('renew');
        renewedGb = diskGb;
        disk = null;
        return claim(generation);
      },
      settle: async () => step('settle'),
      async drop() {
        step('drop');
        disk = null;
      },
    },
    carriers: {
      async use({ size }, work) {
        step('carrier');
        sizes.push(size);
        return work(async () => new Readable() as never).finally(() => steps.push('no carrier'));
      },
    },
    carrierLink: {
      async pack() {
        step('pack');
        return Readable.from([disk]);
      },
      async unpack(_open, _id, _leftOut, archive) {
        const content = await buffer(archive);
        step('unpack');
        disk = content;
      },
    },
    notes: {
      read: async () => note && { location: note, diskBytes: notedBytes },
      async write(_id, location, diskBytes) {
        step('note');
        note = location;
        notedBytes = diskBytes;
      },
      async remove(_id, only) {
        step('no note');
        if (only === undefined || keyOf(only) === (note && keyOf(note))) note = null;
      },
    },
    remote: { place, chosen },
    installationKey,
    encryption,
    assertTenure: () => step('tenure'),
    log: { info() {}, warn() {}, error() {} },
  });
}

const claim = (generation: number): Claim => ({
  ...annotated(generation),
  spec: { accessModes: [], resources: { requests: { storage: '1Gi' } } },
});
const keyOf = (location: ArchiveLocation) => (location.store === 's3' ? location.key : '');
const away = () => new SandhavenError('unavailable', 'S3 is away.', { retryable: true });

describe('an archive', () => {
  it('is noted, packed, put and read back, in this order', async () => {
    const record = await archives.write(ID, 2, never);
    expect(steps).toEqual(['hold', 'note', 'carrier', 'pack', 'put', 'no carrier', 'get']);
    expect(record).toMatchObject({ store: 's3', bucket: 'b', key: 'key 1' });
    expect(record.sizeBytes).toBe(objects.get('key 1')?.length);
    expect(record.sizeBytes).toBeLessThan(1_000);
  });

  it.each(['carrier', 'pack', 'put', 'get'])(
    'that fails at %s leaves neither object nor note',
    async (at) => {
      failing[at] = away();
      await expect(archives.write(ID, 2, never)).rejects.toMatchObject({ fields: { retryable: true } });
      expect([note, objects.size]).toEqual([null, 0]);
      expect(steps).not.toContain('drop');
    },
  );

  it('that was taken over by another replica takes nothing of its', async () => {
    const newer = { store: 's3', bucket: 'b', key: 'newer' } as const;
    const put = objects.set.bind(objects);
    objects.set = () => {
      note = newer;
      put('newer', Buffer.from('newer'));
      throw away();
    };
    await expect(archives.write(ID, 2, never)).rejects.toMatchObject({ fields: { retryable: true } });
    expect([note, [...objects.keys()]]).toEqual([newer, ['newer']]);
  });

  it('that is not kept as it was written is none', async () => {
    const set = objects.set.bind(objects);
    objects.set = (key, bytes) => set(key, Buffer.concat([bytes, Buffer.from('x')]));
    await expect(archives.write(ID, 2, never)).rejects.toMatchObject({
      code: 'unavailable',
      fields: { retryable: true },
    });
    expect([note, objects.size]).toEqual([null, 0]);
  });

  it('waits for no machine, and for no Pod of a newer generation', async () => {
    const refused = { code: 'unavailable', fields: { retryable: true } };
    pod = { ...annotated(1), spec: { containers: [] }, status: { phase: 'Running' } };
    await expect(archives.write(ID, 2, never)).rejects.toMatchObject(refused);
    pod = { ...annotated(3, { 'sandhaven.dev/carrier': 'true' }), spec: { containers: [] } };
    await expect(archives.write(ID, 2, never)).rejects.toMatchObject(refused);
    expect(steps).toEqual([]);
    await archives.write(ID, 3, never);
    expect(steps[0]).toBe('remove the Pod');
  });

  it('needs a place', async () => {
    const refused = {
      code: 'failed_precondition',
      fields: { hint: expect.stringContaining('--archive-store') },
    };
    await expect(open({ chosen: false }).write(ID, 2, never)).rejects.toMatchObject(refused);
    expect(steps).toEqual([]);
  });
});

describe('a restore', () => {
  let record: ArchiveRecord;
  let content: Buffer | null;
  beforeEach(async () => {
    record = await archives.write(ID, 2, never);
    content = disk;
    steps = [];
  });
  const restore = () => archives.restore(spec, 3, record, never);

  it('declares the disk one after all of it is there and is the record’s', async () => {
    await restore();
    expect(steps).toEqual(['get', 'renew', 'carrier', 'unpack', 'settle', 'no carrier']);
    expect(disk).toEqual(content);
  });

  it('asks for a Pod that is no smaller than the sandbox, where the new disk is bound to its node', async () => {
    const resources = { cpu: 8, memory: 16, disk: 1, gpu: 2 };
    await archives.restore({ ...spec, resources }, 3, record, never);
    // The carrier of the archive, and that of the restore.
    expect(sizes).toEqual([{ cpu: 1, memory: 1, disk: 0, gpu: 0 }, resources]);
  });

  it.each([
    ['that had grown past its row', 2.5 * 2 ** 30, 3],
    ['of a note that does not say its size', 0, 1],
  ])('makes a disk as large as the one %s', async (_which, noted, made) => {
    notedBytes = noted;
    await restore();
    expect(renewedGb).toBe(made);
  });

  it('of other bytes of the same length makes no disk', async () => {
    const bytes = objects.get('key 1') as Buffer;
    // zstd's own checksum, the content, the beginning.
    for (const at of [bytes.length - 1, Math.floor(bytes.length / 2), 0]) {
      bytes.writeUInt8(bytes.readUInt8(at) ^ 1, at);
      await expect(restore()).rejects.toMatchObject({ code: 'unavailable', fields: { retryable: false } });
      bytes.writeUInt8(bytes.readUInt8(at) ^ 1, at);
    }
    expect(steps).not.toContain('settle');
    expect(disk).toBeNull();
    expect(note).not.toBeNull();
  });

  it('of another archive that is whole makes no disk', async () => {
    disk = Buffer.from('tnetnoc'.repeat(10_000));
    const other = await archives.write(ID, 2, never);
    expect(other.sizeBytes).toBe(record.sizeBytes);
    objects.set('key 1', objects.get('key 2') as Buffer);
    steps = [];
    await expect(restore()).rejects.toMatchObject({ code: 'unavailable', fields: { retryable: false } });
    expect(steps).toEqual(['get', 'renew', 'carrier', 'unpack', 'no carrier', 'drop']);
  });

  it.each([
    [
      'of another installation',
      () => open({ installationKey: Buffer.alloc(32, 2) }).restore(spec, 3, record, never),
    ],
    ['of another sandbox', () => archives.restore({ ...spec, id: 'sb_fedcba9876543210' }, 3, record, never)],
  ])('by a record %s reads nothing', async (_, restoring) => {
    await expect(restoring()).rejects.toMatchObject({ code: 'unavailable', fields: { retryable: false } });
    expect(steps).toEqual([]);
  });

  it('without its object changes nothing', async () => {
    objects.clear();
    await expect(restore()).rejects.toMatchObject({ code: 'unavailable', fields: { retryable: false } });
    expect(steps).toEqual(['get']);
  });

  it('that the store fails leaves the archive, and may be tried again', async () => {
    failing['get'] = away();
    await expect(restore()).rejects.toMatchObject({ fields: { retryable: true } });
    expect([note, objects.size]).toEqual([{ store: 's3', bucket: 'b', key: 'key 1' }, 1]);
  });
});

describe('an encrypted archive', () => {
  const encrypting = testEncryption();
  let record: ArchiveRecord;
  let content: Buffer | null;
  beforeEach(async () => {
    record = await open({ encryption: encrypting }).write(ID, 2, never);
    content = disk;
    steps = [];
  });

  it('is recorded with its key, and shows nothing of zstd', () => {
    const object = objects.get('key 1') as Buffer;
    expect(record).toMatchObject({ keyId: '0123456789abcdef', sizeBytes: object.length });
    expect(object.subarray(0, 20).toString()).toBe('sandhaven archive 1\n');
    expect(object.includes(Buffer.from('28b52ffd', 'hex'))).toBe(false);
  });

  it.each([true, false])('is restored while new ones are encrypted: %s', async (encrypts) => {
    await open({ encryption: testEncryption({ encrypts }) }).restore(spec, 3, record, never);
    expect(steps).toEqual(['get', 'renew', 'carrier', 'unpack', 'settle', 'no carrier']);
    expect(disk).toEqual(content);
  });

  it('is read beside a plain one of before', async () => {
    disk = Buffer.from('older');
    const plain = await archives.write(ID, 2, never);
    expect(plain).not.toHaveProperty('keyId');
    await open({ encryption: encrypting }).restore(spec, 3, plain, never);
    expect(disk?.toString()).toBe('older');
  });

  it('of another key changes nothing, and may be tried again', async () => {
    const other = testEncryption({ fill: 8, keyId: 'fedcba9876543210' });
    await expect(open({ encryption: other }).restore(spec, 3, record, never)).rejects.toMatchObject({
      code: 'unavailable',
      fields: { retryable: true },
    });
    expect(steps).toEqual([]);
  });

  it('that is damaged or cut off makes no disk', async () => {
    const bytes = objects.get('key 1') as Buffer;
    const damaged = Buffer.from(bytes);
    damaged.writeUInt8(damaged.readUInt8(100) ^ 1, 100);
    objects.set('key 1', damaged);
    const refused = { code: 'unavailable', fields: { retryable: false } };
    await expect(archives.restore(spec, 3, record, never)).rejects.toMatchObject(refused);
    // The carrier has got nothing of it.
    expect(steps).toEqual(['get', 'renew', 'carrier', 'no carrier', 'drop']);
    objects.set('key 1', bytes.subarray(0, -1));
    await expect(archives.restore(spec, 3, record, never)).rejects.toMatchObject(refused);
    expect(disk).toBeNull();
  });
});

describe('the removal of an archive', () => {
  beforeEach(() => archives.write(ID, 2, never));

  it('asks whether the note was still its own before it takes the object', async () => {
    failing['tenure'] = new Error('the lease is over');
    await expect(archives.remove(ID)).rejects.toThrow('the lease is over');
    expect(objects.size).toBe(1);
  });

  it('takes the object, then the note', async () => {
    steps = [];
    await archives.remove(ID);
    expect(steps).toEqual(['tenure', 'remove the object', 'no note']);
    expect([note, objects.size]).toEqual([null, 0]);
  });

  it('waits for no store, which would hold the sandbox: what stays there is collected', async () => {
    failing['remove the object'] = away();
    await archives.remove(ID);
    expect([note, objects.size]).toEqual([null, 1]);
  });
});
