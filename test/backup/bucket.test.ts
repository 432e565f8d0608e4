/** Backups in a real bucket: whole, or not there. */
import { randomBytes } from 'node:crypto';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { entriesOfBucket, writeToBucket } from '../../src/app/parts/backup/bucket.ts';
import type { Entry } from '../../src/backup/entry.ts';
import { once } from '../../src/backup/folder.ts';
import { credentials, type S3Server, startS3Server } from '../archives/s3-server.ts';

const MiB = 1024 * 1024;

describe('a backup in a bucket', () => {
  const folder = mkdtempSync(join(tmpdir(), 'sandhaven-backup-bucket-'));
  const signal = new AbortController().signal;
  const large = randomBytes(30 * MiB);
  let server: S3Server;
  let env: Record<string, string>;

  async function* entries(fails = false): AsyncGenerator<Entry> {
    yield { name: 'sandhaven.db.zst', sizeBytes: large.length, content: once(large) };
    if (fails) throw new Error('the service was killed');
    yield { name: 'manifest.json', sizeBytes: 2, content: once(Buffer.from('{}')) };
  }

  beforeAll(async () => {
    server = await startS3Server();
    await server.makeBucket('backups');
    const file = join(folder, 'credentials');
    const { accessKeyId, secretAccessKey } = credentials;
    const text = `[default]\naws_access_key_id = ${accessKeyId}\naws_secret_access_key = ${secretAccessKey}\n`;
    writeFileSync(file, text, { mode: 0o600 });
    env = { SANDHAVEN_S3_ENDPOINT: server.options.endpoint, SANDHAVEN_S3_CREDENTIALS_FILE: file };
  });

  afterAll(async () => {
    await server?.stop();
    rmSync(folder, { recursive: true });
  });

  it('is one object below the prefix, and comes back byte for byte', async () => {
    const url = await writeToBucket('s3://backups/team', entries(), { instance: 'abc123', env, signal });
    expect(url).toMatch(/^s3:\/\/backups\/team\/backup-abc123-[0-9TZ-]+\.tar$/);
    const found: [string, Buffer][] = [];
    for await (const { name, content } of entriesOfBucket(url, { env, signal })) {
      const pieces: Buffer[] = [];
      for await (const piece of content) pieces.push(piece);
      found.push([name, Buffer.concat(pieces)]);
    }
    expect(found.map(([name]) => name)).toEqual(['sandhaven.db.zst', 'manifest.json']);
    expect(found[0]?.[1].equals(large)).toBe(true);
  });

  it('is not there when it breaks off', async () => {
    const before = server.keys('backups');
    const broken = writeToBucket('s3://backups/team', entries(true), { instance: 'abc123', env, signal });
    await expect(broken).rejects.toThrow();
    expect(server.keys('backups')).toEqual(before);
  });

  it('that nobody made is not found', async () => {
    const nothing = entriesOfBucket('s3://backups/team/none.tar', { env, signal });
    await expect(nothing.next()).rejects.toMatchObject({ code: 'not_found' });
    const nowhere = writeToBucket('local', entries(), { instance: 'abc123', env, signal });
    await expect(nowhere).rejects.toMatchObject({ code: 'invalid_argument' });
  });
});
