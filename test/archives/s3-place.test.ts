import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { SandhavenError } from '../../src/model/errors.ts';
import { newSandboxId } from '../../src/model/ids.ts';
import type { ArchiveLocation } from '../../src/model/sandbox.ts';
import { type ArchivePlace, collectArchives } from '../../src/runtime/archives/places.ts';
import { openS3 } from '../../src/runtime/archives/s3/open.ts';
import { listUploads } from '../../src/runtime/archives/s3/s3-place.ts';
import { type FaultProxy, startFaultProxy } from './fault-proxy.ts';
import { digestOf, placeConformance, source } from './place-conformance.ts';
import { credentials, type S3Server, startS3Server } from './s3-server.ts';

const PART_BYTES = 24 * 1024 * 1024;
const ATTEMPTS = 5;
const PARTS_AT_ONCE = 2;

const INSTANCE = 'abc123-0f0f0f0f';
const MiB = 2 ** 20;
const log = { info() {}, warn() {} };

describe('on a real S3 server', () => {
  let server: S3Server;
  let proxy: FaultProxy;

  beforeAll(async () => {
    server = await startS3Server();
    proxy = await startFaultProxy(server.options.endpoint);
    for (const name of ['conformance', 'faults', 'collected']) await server.makeBucket(name);
  }, 60_000);
  afterAll(async () => {
    await proxy?.close();
    await server?.stop();
  });

  const open = async (bucket: string, prefix = 'some/prefix', instance = INSTANCE): Promise<ArchivePlace> => {
    const folder = { bucket, prefix };
    return (await openS3({ s3: server.options, folder }, instance)).place;
  };

  const uploads = async (bucket: string) => {
    const found: { key: string; uploadId: string }[] = [];
    for await (const one of listUploads(server.client, bucket, '', undefined)) found.push(one);
    return found;
  };

  placeConformance('archives in S3', PART_BYTES, async () => {
    const place = await open('conformance');
    return {
      place,
      prepare: async () => {},
      async leaveHalf(id) {
        const location = place.locate(id);
        if (location.store === 's3') await server.client.createMultipartUpload(location, undefined);
      },
      halves: async () => (await uploads('conformance')).length,
      remove: async () => place.close(),
    };
  });

  describe('a faulty network', () => {
    let place: ArchivePlace;
    let id: string;
    let location: ArchiveLocation;

    beforeAll(async () => {
      const s3 = { ...server.options, endpoint: proxy.endpoint };
      ({ place } = await openS3({ s3, folder: { bucket: 'faults', prefix: '' } }, INSTANCE));
    });
    afterAll(() => place?.close());

    function prepared() {
      id = newSandboxId();
      location = place.locate(id);
      proxy.fault = () => null;
    }

    /** Makes this fault for the first requests that match, as often as given. */
    function once(matches: RegExp, fault: Parameters<typeof faulty>[1], times = 1) {
      faulty(matches, fault, times);
    }

    function faulty(matches: RegExp, fault: ReturnType<FaultProxy['fault']>, times: number) {
      let left = times;
      proxy.fault = ({ method, url }) => (matches.test(`${method} ${url}`) && left-- > 0 ? fault : null);
    }

    it.each([
      ['answers 503 to a part', /PUT .*partNumber=2/, { kind: 'status', status: 503 }],
      ['loses the answer to a part', /PUT .*partNumber=1/, { kind: 'lose' }],
      ['damages a part', /PUT .*partNumber=2/, { kind: 'damage' }],
      ['loses the answer to the end of the upload', /POST .*uploadId=/, { kind: 'lose' }],
      ['answers 500 to the beginning of the upload', /POST .*uploads=/, { kind: 'status', status: 500 }],
    ] as const)(
      'that %s keeps no archive from being whole',
      { timeout: 30_000 },
      async (_what, matches, fault) => {
        prepared();
        const { bytes, digest } = source(50 * MiB, MiB);
        once(matches, fault);
        expect(await place.put(id, location, bytes)).toBe(50 * MiB);
        expect(await digestOf((await place.get(id, location))?.bytes ?? [])).toBe(digest());
        expect(await uploads('faults')).toEqual([]);
        await place.remove(id, location);
      },
    );

    it('that breaks off a download is passed over where it ended, as often as some of it has come', async () => {
      prepared();
      const { bytes, digest } = source(20 * MiB, MiB);
      await place.put(id, location, bytes);
      once(/GET .*zst/, { kind: 'cut', afterBytes: 3 * MiB + 1 }, ATTEMPTS + 1);
      const seen = proxy.requests.length;
      expect(await digestOf((await place.get(id, location))?.bytes ?? [])).toBe(digest());
      expect(proxy.requests.slice(seen).filter((request) => request.startsWith('GET'))).toHaveLength(7);
    }, 30_000);

    it('that stays broken ends the download, and never as if it were whole', {
      timeout: 60_000,
    }, async () => {
      prepared();
      await place.put(id, location, source(20 * MiB, MiB).bytes);
      once(/GET .*zst/, { kind: 'cut', afterBytes: 0 }, Infinity);
      const stored = await place.get(id, location);
      await expect(digestOf(stored?.bytes ?? [])).rejects.toMatchObject({
        code: 'unavailable',
        fields: { retryable: true },
      });
    });

    it('that stays broken ends an upload after a bounded number of attempts, with nothing left', async () => {
      prepared();
      once(/PUT .*partNumber=1/, { kind: 'status', status: 503 }, Infinity);
      const seen = proxy.requests.length;
      await expect(place.put(id, location, source(30 * MiB, MiB).bytes)).rejects.toMatchObject({
        code: 'unavailable',
        message: 'The archive store cannot be used: it answers HTTP 503.',
        fields: { retryable: true },
      });
      const tries = proxy.requests.slice(seen).filter((request) => request.includes('partNumber=1&'));
      expect(tries).toHaveLength(ATTEMPTS);
      expect(await uploads('faults')).toEqual([]);
    }, 60_000);

    it('holds few parts in memory while it is slow', async () => {
      prepared();
      let given = 0;
      let most = 0;
      let sent = 0;
      proxy.fault = ({ method, url }) => {
        if (method === 'PUT' && url?.includes('partNumber')) sent += PART_BYTES;
        return null;
      };
      async function* counted() {
        for await (const piece of source(200 * MiB, MiB).bytes) {
          given += piece.length;
          most = Math.max(most, given - sent);
          yield piece;
        }
      }
      await place.put(id, location, counted());
      expect(most).toBeLessThanOrEqual((PARTS_AT_ONCE + 2) * PART_BYTES);
      await place.remove(id, location);
    }, 60_000);
  });

  describe('a collection', () => {
    it('removes old archives that nothing names, and no other', async () => {
      const [mine, other] = [
        await open('collected'),
        await open('collected', 'some/prefix', 'zzz999-0f0f0f0f'),
      ];
      const [named, orphan, foreign] = [newSandboxId(), newSandboxId(), newSandboxId()];
      const put = async (place: ArchivePlace, id: string) => {
        const location = place.locate(id);
        await place.put(id, location, source(9, 9).bytes);
        return location;
      };
      const [kept, , theirs] = [await put(mine, named), await put(mine, orphan), await put(other, foreign)];
      const collect = (olderThanMs: number) =>
        collectArchives(mine, { named: async () => [kept, { store: 'local' }], olderThanMs }, log);
      expect(await collect(60_000)).toBe(0);
      expect(server.keys('collected')).toHaveLength(3);
      // Younger than nothing: clocks of servers count in whole seconds.
      expect(await collect(-60_000)).toBe(1);
      const keyOf = (location: ArchiveLocation) => (location.store === 's3' ? location.key : '');
      expect(server.keys('collected')).toEqual([keyOf(kept), keyOf(theirs)].sort());
      mine.close();
      other.close();
    });
  });

  describe('a start', () => {
    const folder = { bucket: 'conformance', prefix: '' };

    it.each([
      [
        'a bucket that does not exist',
        { folder: { bucket: 'missing', prefix: '' } },
        'the bucket does not exist',
        'Create the bucket, or correct --archive-store.',
      ],
      [
        'a wrong secret',
        { s3: { credentials: { ...credentials, secretAccessKey: 'canary-other' } } },
        'the secret key is wrong',
        'Correct the credentials.',
      ],
      ['another region', { s3: { region: 'eu-west-1' } }, 'the region is wrong', 'Correct --s3-region.'],
      [
        'a server that is not there',
        { s3: { endpoint: 'http://127.0.0.1:1' } },
        'it cannot be reached',
        'Check --s3-endpoint, and the network of this host.',
      ],
    ])('with %s fails with the next step', { timeout: 30_000 }, async (_what, changes, reason, hint) => {
      const s3 = { ...server.options, ...('s3' in changes ? changes.s3 : {}) };
      const error = await openS3({ s3, folder, ...('folder' in changes ? changes : {}) }, INSTANCE).catch(
        (caught: unknown) => caught,
      );
      expect(error).toBeInstanceOf(SandhavenError);
      expect(error).toMatchObject({
        code: 'failed_precondition',
        message: `The archive store cannot be used: ${reason}.`,
        fields: { parameter: '--archive-store', hint },
      });
      expect(allOf(error)).not.toContain('canary');
    });

    it('leaves nothing in the bucket', async () => {
      (await open('conformance')).close();
      expect(server.keys('conformance')).toEqual([]);
    });
  });
});

/** Texts of an error and of its causes, with every property. */
function allOf(error: unknown): string {
  if (!(error instanceof Error)) return String(error);
  return [error.stack, JSON.stringify(error), allOf(error.cause)].join('\n');
}
