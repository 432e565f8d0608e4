import {
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  truncateSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeEach, describe, expect, it } from 'vitest';
import { createArchives, createEncryptedFiles } from '../../src/runtime/oci/disk/archives.ts';
import { createLayout } from '../../src/runtime/oci/host/layout.ts';
import { testEncryption } from './test-encryption.ts';

const ID = 'sb_0123456789abcdef';
const folder = mkdtempSync(join(tmpdir(), 'sandhaven-encrypted-files-'));
const [plain, sealed, opened] = [join(folder, 'plain'), join(folder, 'sealed'), join(folder, 'opened')];
const content = Buffer.alloc(3_000_000, 'a packed disk, ');
const files = createEncryptedFiles(testEncryption());

beforeEach(async () => {
  writeFileSync(plain, content);
  await files.seal(ID, plain, sealed);
});
afterAll(() => rmSync(folder, { recursive: true }));

describe('an encrypted file', () => {
  it('gives the plain one back, and is nobody else’s to read', async () => {
    // 60 bytes before the chunks, and 16 with each of the twelve.
    expect(statSync(sealed)).toMatchObject({ size: 3_000_252, mode: 0o100600 });
    await files.open(ID, sealed, opened);
    expect(statSync(opened).mode).toBe(0o100600);
    expect(readFileSync(opened).equals(content)).toBe(true);
  });

  it.each([
    ['is cut off', () => truncateSync(sealed, 2_000_000), ID],
    ['is of another sandbox', () => {}, 'sb_fedcba9876543210'],
  ])('that %s is refused', async (_what, change, id) => {
    change();
    await expect(files.open(id, sealed, opened)).rejects.toMatchObject({
      code: 'unavailable',
      message: 'The archive of the sandbox is damaged or not its own.',
    });
  });

  it('of a plain one that is missing is not made', async () => {
    rmSync(plain);
    await expect(files.seal(ID, plain, sealed)).rejects.toMatchObject({ code: 'ENOENT' });
  });

  it('fails with the reason of a caller who has gone', async () => {
    const gone = AbortSignal.abort(new Error('canceled'));
    await expect(files.seal(ID, plain, sealed, gone)).rejects.toThrow('canceled');
    await expect(files.open(ID, sealed, opened, gone)).rejects.toThrow('canceled');
  });
});

it('a packed disk that a killed service left plain goes with the next start, and nothing else does', async () => {
  const layout = createLayout(join(folder, 'data'), join(folder, 'run'));
  mkdirSync(layout.sandbox(ID), { recursive: true });
  for (const name of ['disk.img', 'archive.tar.zst', 'archive.tar.zst.plain'])
    writeFileSync(join(layout.sandbox(ID), name), name);
  const unused = { helpers: {} as never, places: {} as never, installationKey: Buffer.alloc(0) };
  await createArchives({ layout, ...unused, encryption: testEncryption(), log: { warn() {} } }).init();
  expect(readdirSync(layout.sandbox(ID)).sort()).toEqual(['archive.tar.zst', 'disk.img']);
});
