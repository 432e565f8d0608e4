/** Backups of strangers, damaged ones and unfinished ones: each is refused, and leaves nothing behind. */
import { randomBytes } from 'node:crypto';
import {
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { zstdCompressSync } from 'node:zlib';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { newestSchema, restoreBackup } from '../../src/app/parts/backup/restore-backup.ts';
import type { Entry } from '../../src/backup/entry.ts';
import { entriesOfFolder, once, writeFolder } from '../../src/backup/folder.ts';
import { backupKey, type Manifest, writeManifest } from '../../src/backup/manifest.ts';
import { entriesOfTar, sumOf, tarOf } from '../../src/backup/tar.ts';
import { presentStore } from '../../src/model/disk-store.ts';
import { secretsOf } from '../../src/store/files/secrets.ts';
import { openSqliteStore } from '../../src/store/sqlite/store.ts';

const work = mkdtempSync(join(tmpdir(), 'sandhaven-hostile-backup-'));
const key = randomBytes(32);
const secrets = secretsOf(key);
let rows: Buffer;

beforeAll(async () => {
  const file = join(work, 'made.db');
  await (await openSqliteStore({ file, secrets })).close();
  rows = zstdCompressSync(readFileSync(file));
  for (const name of readdirSync(work)) rmSync(join(work, name));
});
beforeEach(() => {
  for (const name of readdirSync(work)) rmSync(join(work, name), { recursive: true });
});
afterAll(() => rmSync(work, { recursive: true }));

const entry = (name: string, bytes: Buffer): Entry => ({
  name,
  sizeBytes: bytes.length,
  content: once(bytes),
});

async function digestOf(bytes: Buffer): Promise<string> {
  return Buffer.from(await crypto.subtle.digest('SHA-256', bytes)).toString('hex');
}

/** Entries of a sound backup with keys, of one file of rows. */
async function sound(change: Partial<Manifest> = {}, more: [string, Buffer][] = []): Promise<Entry[]> {
  const files = [['sandhaven.db.zst', rows] as [string, Buffer], ...more];
  const listed = await Promise.all(
    files.map(async ([name, bytes]) => ({ name, size_bytes: bytes.length, sha256: await digestOf(bytes) })),
  );
  const manifest = {
    ...{ service_version: '0.1.0', schema_version: newestSchema, instance: 'abc123', key_id: secrets.keyId },
    ...{ made_at: '2026-01-02T03:04:05.000Z', files: listed, left_out: [], ...change },
  };
  return [
    entry('secret.key', key),
    ...files.map(([name, bytes]) => entry(name, bytes)),
    entry('manifest.json', writeManifest(manifest, backupKey(secrets))),
  ];
}

async function* each<T>(items: T[]): AsyncGenerator<T> {
  yield* items;
}

async function bytesOf(stream: AsyncIterable<Buffer>): Promise<Buffer> {
  const pieces: Buffer[] = [];
  for await (const piece of stream) pieces.push(piece);
  return Buffer.concat(pieces);
}

function restore(entries: AsyncIterable<Entry>, keyFile: string | null = null): Promise<Manifest> {
  const signal = new AbortController().signal;
  return restoreBackup(entries, {
    dataDir: join(work, 'data'),
    keyFile,
    diskStore: presentStore,
    now: 1,
    signal,
  });
}

/** Restores a stream; `change` may alter it. */
async function restoreTar(
  entries: Entry[],
  change: (tar: Buffer) => Buffer = (tar) => tar,
): Promise<Manifest> {
  return restore(entriesOfTar(each([change(await bytesOf(tarOf(each(entries))))])));
}

const left = (): string[] => readdirSync(work);

describe('a sound backup', () => {
  it('is restored from a stream in pieces of any length', async () => {
    const tar = await bytesOf(tarOf(each(await sound())));
    const pieces = Array.from({ length: Math.ceil(tar.length / 7) }, (_, at) =>
      tar.subarray(at * 7, at * 7 + 7),
    );
    await restore(entriesOfTar(each(pieces)));
    expect(readdirSync(join(work, 'data')).filter((name) => !name.startsWith('service.lock'))).toEqual([
      'sandhaven.db',
      'secret.key',
    ]);
    expect(left()).toEqual(['data']);
  });

  it('is read to the end of its stream, so that its sender knows that all has come', async () => {
    let isSent = false;
    async function* sent() {
      yield* tarOf(each(await sound()));
      yield Buffer.alloc(9 * 1024);
      isSent = true;
    }
    for await (const { content } of entriesOfTar(sent())) for await (const _piece of content);
    expect(isSent).toBe(true);
  });

  it('has sizes beyond eleven octal digits', async () => {
    const huge: Entry = { name: 'manifest.json', sizeBytes: 2 ** 33 + 5, content: each([]) };
    const tar = tarOf(each([huge]));
    const { value } = await tar.next();
    const read = entriesOfTar(each([value ?? Buffer.alloc(0)]));
    expect((await read.next()).value).toMatchObject({ name: 'manifest.json', sizeBytes: 8_589_934_597 });
  });
});

describe('a hostile stream', () => {
  it.each([
    '../outside',
    '/etc/cron.d/x',
    'sandboxes/../../x/disk.tar.zst',
    'sandboxes/sb_0/disk.tar.zst',
    'x',
  ])('with the name %s is refused', async (name) => {
    const entries = [entry(name, Buffer.from('x')), ...(await sound())];
    await expect(restoreTar(entries)).rejects.toThrow('it has a file that no backup has.');
    expect(left()).toEqual([]);
  });

  it.each(['1', '2', '3', '5', 'L', 'x'])('with an entry of type %s is refused', async (type) => {
    const retyped = (tar: Buffer): Buffer => {
      tar.write(type, 156, 'latin1');
      tar.write(`${sumOf(tar.subarray(0, 512)).toString(8).padStart(6, '0')}\0 `, 148, 'latin1');
      return tar;
    };
    await expect(restoreTar(await sound(), retyped)).rejects.toThrow('it has a file that no backup has.');
    expect(left()).toEqual([]);
  });

  it('that names a size no disk has is refused before a byte is written', async () => {
    const huge: Entry = { name: 'sandhaven.db.zst', sizeBytes: 2 ** 50, content: each([]) };
    const { value } = await tarOf(each([huge])).next();
    const stream = entriesOfTar(each([value ?? Buffer.alloc(0)]));
    await expect(restore(stream)).rejects.toMatchObject({ code: 'resource_exhausted' });
    expect(left()).toEqual([]);
  });

  it('that goes on without end is refused', async () => {
    async function* endless() {
      yield* tarOf(each(await sound()));
      for (;;) yield Buffer.alloc(64 * 1024);
    }
    await expect(restore(entriesOfTar(endless()))).rejects.toThrow('the stream goes on after its end.');
    expect(left()).toEqual([]);
  });

  it('with a large key or manifest, or a file twice, is refused', async () => {
    await expect(restoreTar([entry('secret.key', Buffer.alloc(5_000))])).rejects.toThrow('is too large');
    const twice = [entry('audit-checkpoint', key), entry('audit-checkpoint', key)];
    await expect(restoreTar(twice)).rejects.toThrow('it has a file twice.');
    expect(left()).toEqual([]);
  });

  it('of random bytes is refused', async () => {
    await expect(restore(entriesOfTar(each([randomBytes(4_096)])))).rejects.toThrow('a header of the stream');
  });
});

describe('an unfinished or changed backup', () => {
  it('without its manifest is refused with a sentence', async () => {
    const entries = (await sound()).slice(0, -1);
    await expect(restoreTar(entries)).rejects.toThrow('it was never finished, and cannot be restored.');
    expect(left()).toEqual([]);
  });

  it('that ends anywhere is refused', async () => {
    const tar = await bytesOf(tarOf(each(await sound())));
    for (const part of [0.1, 0.5, 0.9]) {
      const cut = tar.subarray(0, (tar.length - 1024) * part);
      await expect(restore(entriesOfTar(each([cut])))).rejects.toThrow('the stream ends too early.');
    }
    expect(left()).toEqual([]);
  });

  it('with another byte is refused', async () => {
    const other = Buffer.from(rows);
    other[100] = (other[100] ?? 0) ^ 1;
    const [secret, , manifest] = await sound();
    const entries = [secret, entry('sandhaven.db.zst', other), manifest] as Entry[];
    await expect(restoreTar(entries)).rejects.toThrow('its file sandhaven.db.zst was changed.');
    expect(left()).toEqual([]);
  });

  it('of a newer schema is refused, and named', async () => {
    await expect(restoreTar(await sound({ schema_version: newestSchema + 1 }))).rejects.toThrow(
      /^The backup is of a newer service \(0\.1\.0, format 1, schema \d+\)/,
    );
    expect(left()).toEqual([]);
  });

  it('whose manifest somebody else wrote is refused', async () => {
    const [secret, database] = await sound();
    const text = (await bytesOf((await sound()).at(-1)?.content ?? each([]))).toString();
    const forged = entry('manifest.json', Buffer.from(text.replace('abc123', 'abc124')));
    await expect(restoreTar([secret, database, forged] as Entry[])).rejects.toThrow(
      'was changed, or was written by',
    );
    const file = join(work, 'other.key');
    writeFileSync(file, randomBytes(32));
    const entries = (await sound()).slice(1);
    await expect(restore(each(entries), file)).rejects.toThrow(
      'The secret key is not the one of this backup.',
    );
    expect(left()).toEqual(['other.key']);
  });

  it('whose disk is no file is refused', async () => {
    const disk = await tarWithLink();
    const name = 'sandboxes/sb_0123456789abcdef/disk.tar.zst';
    await expect(restoreTar(await sound({}, [[name, disk]]))).rejects.toThrow('a disk in it is not a file.');
    expect(left()).toEqual([]);
  });
});

describe('a folder', () => {
  const folder = join(work, 'folder');

  it('with a link in place of a file is refused', async () => {
    await writeFolder(folder, each(await sound()), () => {});
    rmSync(join(folder, 'sandhaven.db.zst'));
    symlinkSync('/etc/passwd', join(folder, 'sandhaven.db.zst'));
    await expect(restore(entriesOfFolder(folder, newestSchema))).rejects.toThrow('it has a link or a device');
    expect(left()).toEqual(['folder']);
  });

  it('that is in use takes no backup, and keeps what it has', async () => {
    mkdirSync(folder);
    writeFileSync(join(folder, 'mine'), '');
    await expect(writeFolder(folder, each(await sound()), () => {})).rejects.toThrow('is not empty.');
    expect(readdirSync(folder)).toEqual(['mine']);
  });

  it('of an interrupted backup is refused', async () => {
    const entries = (await sound()).slice(0, -1);
    await expect(writeFolder(folder, each(entries), () => {})).rejects.toThrow('it was never finished');
    expect(readdirSync(folder)).toEqual([]);
    await expect(restore(entriesOfFolder(folder, newestSchema))).rejects.toThrow('it was never finished');
  });
});

describe('a data directory', () => {
  it('with anything in it takes no restore, and keeps it', async () => {
    mkdirSync(join(work, 'data'));
    writeFileSync(join(work, 'data', 'instance'), 'abc123\n');
    await expect(restoreTar(await sound())).rejects.toMatchObject({ code: 'failed_precondition' });
    expect(readdirSync(join(work, 'data'))).toEqual(['instance']);
  });
});

/** A tar as GNU tar writes it, in which disk.img is a symbolic link. */
async function tarWithLink(): Promise<Buffer> {
  const tar = await bytesOf(tarOf(each([{ name: 'disk.img', sizeBytes: 0, content: each([]) }])));
  tar.write('2', 156, 'latin1');
  tar.write('/etc/passwd', 157, 'latin1');
  tar.write(`${sumOf(tar.subarray(0, 512)).toString(8).padStart(6, '0')}\0 `, 148, 'latin1');
  return zstdCompressSync(tar);
}
