/** The pure parts of the S3 adapter: credentials, URLs, XML, the cutting of streams. */
import { createHash } from 'node:crypto';
import { chmodSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, describe, expect, it } from 'vitest';
import { type Body, urlOf } from '../../src/runtime/archives/s3/exchange.ts';
import { elementsOf, encode, textOf } from '../../src/runtime/archives/s3/failure.ts';
import { credentialsOf } from '../../src/runtime/archives/s3/open.ts';
import { folderOnMachine } from '../../src/runtime/archives/s3/own-folder.ts';
import { partsOf } from '../../src/runtime/archives/s3/upload.ts';

const folder = mkdtempSync(join(tmpdir(), 'sandhaven-s3-parts-'));
afterAll(() => rmSync(folder, { recursive: true }));

describe('the credentials file', () => {
  const file = join(folder, 'credentials');
  const read = (text: string, mode = 0o600) => {
    writeFileSync(file, text);
    chmodSync(file, mode);
    return credentialsOf({ credentials: { file } });
  };

  it.each([
    ['aws_access_key_id=a\naws_secret_access_key=s'],
    [
      '# comment\n[default]\n  aws_access_key_id = a\n  aws_secret_access_key = s \n[other]\naws_access_key_id = b\n',
    ],
    [
      '[other]\r\naws_access_key_id = b\r\n[ default ]\r\nAWS_ACCESS_KEY_ID = a\r\naws_secret_access_key = s\r\n',
    ],
  ])('is read: %j', (text) => {
    expect(read(text)).toEqual({ accessKeyId: 'a', secretAccessKey: 's' });
  });

  it('may have a session token', () => {
    const text = '[default]\naws_access_key_id=a\naws_secret_access_key=s/+=\naws_session_token=t==\n';
    expect(read(text)).toEqual({ accessKeyId: 'a', secretAccessKey: 's/+=', sessionToken: 't==' });
  });

  it.each([
    ['is missing', () => credentialsOf({ credentials: { file: join(folder, 'none') } }), 'cannot be read'],
    [
      'can be read by others',
      () => read('aws_access_key_id=a\naws_secret_access_key=canary', 0o640),
      'other users',
    ],
    ['is too large', () => read(`${'#'.repeat(70_000)}`), 'cannot be read'],
    ['has half a pair', () => read('aws_secret_access_key=canary'), 'no credentials'],
    [
      'has another profile only',
      () => read('[x]\naws_access_key_id=a\naws_secret_access_key=canary'),
      'no credentials',
    ],
  ])('is refused when it %s', (_what, open, said) => {
    expect(open).toThrow(
      expect.objectContaining({
        code: 'failed_precondition',
        message: expect.stringContaining(said),
        fields: expect.objectContaining({ parameter: '--s3-credentials-file' }),
      }),
    );
    expect(open).not.toThrow('canary');
  });
});

describe('the URL of an object', () => {
  const object = { bucket: 'b', key: 'p/k', query: { uploads: '', uploadId: 'a b+c/=' } };

  it('has the bucket in its path or in its host name', () => {
    expect(urlOf({ endpoint: 'https://s3.example.com:9000', pathStyle: true }, object).href).toBe(
      'https://s3.example.com:9000/b/p/k?uploads=&uploadId=a%20b%2Bc%2F%3D',
    );
    expect(urlOf({ endpoint: 'https://s3.example.com:9000', pathStyle: false }, object).href).toBe(
      'https://b.s3.example.com:9000/p/k?uploads=&uploadId=a%20b%2Bc%2F%3D',
    );
  });
});

describe('the XML of S3', () => {
  it('is read by the names of its elements', () => {
    const xml = '<R><A><K>x&amp;&#47;&#x2F;&lt;y&gt;</K></A><A><K>2</K></A><T>true</T></R>';
    expect(elementsOf(xml, 'A')).toHaveLength(2);
    expect(textOf(xml, 'K')).toBe('x&//<y>');
    expect(textOf(xml, 'None')).toBeNull();
    expect(encode('"<&>"')).toBe('&quot;&lt;&amp;&gt;&quot;');
  });
});

describe('a stream', () => {
  it.each([
    [0, 4, [0]],
    [3, 4, [3]],
    [4, 4, [4]],
    [5, 4, [4, 1]],
    [12, 4, [4, 4, 4]],
  ])('of %d bytes is cut into parts of at most %d', async (size, partBytes, expected) => {
    const whole = Buffer.from(Array.from({ length: size }, (_, at) => at));
    async function* bytes() {
      for (let at = 0; at < size; at += 3) yield whole.subarray(at, at + 3);
    }
    const parts: { body: Body; last: boolean }[] = [];
    for await (const part of partsOf(bytes(), partBytes)) parts.push(part);
    expect(parts.map(({ body }) => body.sizeBytes)).toEqual(expected);
    expect(parts.map(({ last }) => last)).toEqual(expected.map((_, at) => at === expected.length - 1));
    expect(Buffer.concat(parts.flatMap(({ body }) => body.pieces))).toEqual(whole);
    for (const { body } of parts) {
      const hash = createHash('sha256').update(Buffer.concat(body.pieces)).digest('hex');
      expect(body.sha256).toBe(hash);
    }
  });
});

describe('the part of a bucket that a service uses', () => {
  it('is another on another machine, for the same data directory', () => {
    const machine = (text: string) => {
      writeFileSync(join(folder, 'machine-id'), text);
      return folderOnMachine('abc123', join(folder, 'machine-id'));
    };
    expect(machine('one\n')).toMatch(/^abc123-[0-9a-f]{8}$/);
    expect(machine('one\n')).toBe(machine('one'));
    expect(machine('two\n')).not.toBe(machine('one\n'));
    expect(folderOnMachine('abc123', join(folder, 'none'))).toMatch(/^abc123-[0-9a-f]{8}$/);
  });
});
