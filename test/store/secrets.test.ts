/** Boxes for secrets at rest, and the key they are sealed with. */
import { chmodSync, readdirSync, readFileSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { openSecrets, type Place, secretsOf } from '../../src/store/files/secrets.ts';
import { temporaryDirectory } from './fixtures.ts';

const secrets = secretsOf(Buffer.alloc(32, 1));
const other = secretsOf(Buffer.alloc(32, 2));
const place: Place = { table: 'sandboxes', row: 'sb_1', column: 'env_vars' };
const places = fc.record({ table: fc.string(), row: fc.string(), column: fc.string() });

describe('a sealed box', () => {
  it('opens in its place, and holds any text', () => {
    fc.assert(
      fc.property(fc.string({ unit: 'binary' }), places, (plaintext, where) => {
        expect(secrets.open(secrets.seal(plaintext, where), where)).toBe(plaintext);
      }),
    );
  });

  it('opens in no other place', () => {
    fc.assert(
      fc.property(places, places, (where, elsewhere) => {
        fc.pre(JSON.stringify(where) !== JSON.stringify(elsewhere));
        expect(() => secrets.open(secrets.seal('x', where), elsewhere)).toThrow();
      }),
    );
    const box = secrets.seal('x', { table: 'ab', row: 'c', column: 'd' });
    expect(() => secrets.open(box, { table: 'a', row: 'bc', column: 'd' })).toThrow();
  });

  it('does not open once any bit of it has changed', () => {
    const box = secrets.seal('plaintext', place);
    for (let bit = 0; bit < box.length * 8; bit++) {
      const changed = Buffer.from(box);
      changed.writeUInt8(changed.readUInt8(bit >> 3) ^ (1 << (bit & 7)), bit >> 3);
      expect(() => secrets.open(changed, place), `bit ${bit}`).toThrow();
    }
  });

  it('does not open when it was cut, or is no box at all', () => {
    const box = secrets.seal('plaintext', place);
    for (let length = 0; length < box.length; length++) {
      expect(() => secrets.open(box.subarray(0, length), place), `${length} bytes`).toThrow();
    }
    for (const wrong of [null, undefined, '', 'plaintext', 1, {}, []]) {
      expect(() => secrets.open(wrong, place)).toThrow();
    }
  });

  it('does not open with another key, and the error names that cause', () => {
    expect(() => other.open(secrets.seal('x', place), place)).toThrow('another key');
  });

  it('is different every time, and shows nothing of what it holds', () => {
    const [one, two] = [secrets.seal('canary'.repeat(20), place), secrets.seal('canary'.repeat(20), place)];
    expect(one.equals(two)).toBe(false);
    expect(one.includes('canary')).toBe(false);
  });
});

describe('derived keys', () => {
  it('are 32 bytes, the same for one purpose, different for others and for other secrets', () => {
    const key = secrets.deriveKey('archive');
    expect(key).toHaveLength(32);
    expect(secrets.deriveKey('archive').equals(key)).toBe(true);
    expect(secrets.deriveKey('preview').equals(key)).toBe(false);
    expect(other.deriveKey('archive').equals(key)).toBe(false);
  });

  it('are not the secret key, and its id shows nothing of it', () => {
    expect(secrets.deriveKey('').equals(Buffer.alloc(32, 1))).toBe(false);
    expect(secrets.keyId).toMatch(/^[0-9a-f]{16}$/);
    expect(secrets.keyId).not.toBe(other.keyId);
    expect(secrets.keyId).not.toBe('01'.repeat(8));
  });
});

describe('the key file', () => {
  it('is made once: 32 bytes, its owner’s alone, with nothing left beside it', () => {
    const directory = temporaryDirectory();
    const keyFile = join(directory, 'secret.key');
    const first = openSecrets({ keyFile });
    expect(statSync(keyFile).mode & 0o777).toBe(0o600);
    expect(statSync(keyFile).size).toBe(32);
    expect(openSecrets({ keyFile }).keyId).toBe(first.keyId);
    expect(readdirSync(directory)).toEqual(['secret.key']);
  });

  it('is another one for another installation', () => {
    const [one, two] = [join(temporaryDirectory(), 'secret.key'), join(temporaryDirectory(), 'secret.key')];
    expect(openSecrets({ keyFile: one }).keyId).not.toBe(openSecrets({ keyFile: two }).keyId);
  });

  it('is refused when others can read it, or when it is not 32 bytes', () => {
    const keyFile = join(temporaryDirectory(), 'secret.key');
    openSecrets({ keyFile });
    chmodSync(keyFile, 0o640);
    expect(() => openSecrets({ keyFile })).toThrow(expect.objectContaining({ code: 'failed_precondition' }));
    chmodSync(keyFile, 0o600);
    writeFileSync(keyFile, readFileSync(keyFile).subarray(0, 31));
    expect(() => openSecrets({ keyFile })).toThrow(/31 bytes/);
  });

  it('is not made where a systemd credential holds the key', () => {
    const [credentialsDirectory, directory] = [temporaryDirectory(), temporaryDirectory()];
    const keyFile = join(directory, 'secret.key');
    writeFileSync(join(credentialsDirectory, 'sandhaven-secret-key'), Buffer.alloc(32, 1));
    expect(openSecrets({ keyFile, credentialsDirectory }).keyId).toBe(secrets.keyId);
    expect(readdirSync(directory)).toEqual([]);
  });

  it('is made where the credentials are of other services', () => {
    const keyFile = join(temporaryDirectory(), 'secret.key');
    openSecrets({ keyFile, credentialsDirectory: temporaryDirectory() });
    expect(statSync(keyFile).size).toBe(32);
  });
});
