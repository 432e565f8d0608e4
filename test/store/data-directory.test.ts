/** The data directory: private, with an instance id, and one service at a time. */
import { spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { chmodSync, mkdirSync, readdirSync, readFileSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { describe, expect, it, onTestFinished } from 'vitest';
import { lockDataDirectory, openDataDirectory, readOrCreateApiKey } from '../../src/store/data-directory.ts';
import { readOrCreate, replaceFile } from '../../src/store/files/durable-file.ts';
import { temporaryDirectory } from './fixtures.ts';

const lockHolder = join(import.meta.dirname, 'lock-holder.ts');
const refused = expect.objectContaining({ code: 'failed_precondition' });

describe('the data directory', () => {
  it('is made private, with an instance id that stays', () => {
    const path = join(temporaryDirectory(), 'a', 'b');
    const first = openDataDirectory(path);
    expect(statSync(path).mode & 0o777).toBe(0o700);
    expect(first.instance).toMatch(/^[0-9a-z]{6}$/);
    expect(statSync(join(path, 'instance')).mode & 0o777).toBe(0o600);
    expect(openDataDirectory(path)).toEqual(first);
    expect(readdirSync(path)).toEqual(['instance']);
  });

  it('has another id than other directories', () => {
    expect(openDataDirectory(temporaryDirectory()).instance).not.toBe(
      openDataDirectory(temporaryDirectory()).instance,
    );
  });

  it('is made private when it is empty and open to others', () => {
    const path = join(temporaryDirectory(), 'data');
    mkdirSync(path, { mode: 0o755 });
    openDataDirectory(path);
    expect(statSync(path).mode & 0o777).toBe(0o700);
  });

  it('is refused and left as it is when it holds something and is open to others', () => {
    const path = join(temporaryDirectory(), 'home');
    mkdirSync(path);
    writeFileSync(join(path, 'notes'), 'mine');
    chmodSync(path, 0o755);
    expect(() => openDataDirectory(path)).toThrow(refused);
    expect(statSync(path).mode & 0o777).toBe(0o755);
    expect(readdirSync(path)).toEqual(['notes']);
  });

  it('with a damaged instance file is refused', () => {
    const path = temporaryDirectory();
    for (const damaged of ['', 'abc', 'ABCDEF', '../../', 'abcdefg']) {
      writeFileSync(join(path, 'instance'), damaged);
      expect(() => openDataDirectory(path), damaged).toThrow(refused);
    }
  });
});

describe('the API key file', () => {
  it('is made once and kept, its owner’s alone', () => {
    const { apiKeyFile } = openDataDirectory(temporaryDirectory());
    const key = readOrCreateApiKey(apiKeyFile);
    expect(key).toMatch(/^shv_[0-9a-z]{43}$/);
    expect(statSync(apiKeyFile).mode & 0o777).toBe(0o600);
    expect(readOrCreateApiKey(apiKeyFile)).toBe(key);
    expect(readFileSync(apiKeyFile, 'utf8')).toBe(`${key}\n`);
  });
});

describe('a file that is created once', () => {
  it('is the other one’s when two create it at the same moment', () => {
    const directory = temporaryDirectory();
    const file = join(directory, 'file');
    const content = readOrCreate(file, () => {
      writeFileSync(file, 'theirs');
      return Buffer.from('mine');
    });
    expect(content.toString()).toBe('theirs');
    expect(readdirSync(directory)).toEqual(['file']);
  });

  it('leaves nothing behind when it cannot be put there', () => {
    const directory = temporaryDirectory();
    const file = join(directory, 'file');
    mkdirSync(file);
    expect(() => replaceFile(file, Buffer.from('x'))).toThrow(/EISDIR|directory/);
    expect(readdirSync(directory)).toEqual(['file']);
  });
});

describe('the lock', () => {
  it('is held by one, and the error for another names --data-dir', () => {
    const directory = temporaryDirectory();
    const lock = lockDataDirectory(directory);
    expect(() => lockDataDirectory(directory)).toThrow(
      expect.objectContaining({
        code: 'failed_precondition',
        message: `Another Sandhaven service uses the data directory ${directory}.`,
        fields: { hint: expect.stringContaining('--data-dir') },
      }),
    );
    // The failed attempt has not taken the lock away: not for this process, and not for others.
    expect(() => lockDataDirectory(directory)).toThrow(refused);
    expect(attemptElsewhere(directory)).toBe('failed_precondition\n');
    lock.release();
    lock.release();
    lockDataDirectory(directory).release();
    expect(attemptElsewhere(directory)).toBe('locked\n');
  });

  it('of one directory does not touch another', () => {
    const locks = [temporaryDirectory(), temporaryDirectory()].map(lockDataDirectory);
    for (const lock of locks) lock.release();
  });

  it('of another process holds until that is killed, and not longer', async () => {
    const directory = temporaryDirectory();
    const holder = spawn(process.execPath, ['--expose-gc', lockHolder, directory, 'stay']);
    onTestFinished(() => void holder.kill('SIGKILL'));
    await once(holder.stdout, 'data');
    await delay(200);
    expect(() => lockDataDirectory(directory)).toThrow(refused);
    holder.kill('SIGKILL');
    await once(holder, 'close');
    lockDataDirectory(directory).release();
  });
});

/** What a process of its own says of its attempt. */
function attemptElsewhere(directory: string): string {
  return spawnSync(process.execPath, [lockHolder, directory], { encoding: 'utf8' }).stdout;
}
