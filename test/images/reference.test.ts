/** Names of images: what they are completed to, what is refused, and that none can be an option. */
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { SandhavenError } from '../../src/model/errors.ts';
import { formatReference, parseReference } from '../../src/runtime/images/registry/reference.ts';

const digest = `sha256:${'0123456789abcdef'.repeat(4)}`;

describe('image references', () => {
  it.each([
    ['alpine', 'docker.io/library/alpine:latest'],
    ['alpine:3.22', 'docker.io/library/alpine:3.22'],
    ['team/app', 'docker.io/team/app:latest'],
    ['docker.io/alpine', 'docker.io/library/alpine:latest'],
    ['docker://alpine', 'docker.io/library/alpine:latest'],
    ['localhost/app', 'localhost/app:latest'],
    ['localhost:5000/x', 'localhost:5000/x:latest'],
    ['[::1]:5000/x:1', '[::1]:5000/x:1'],
    ['registry.example/a/b/c:v1.0_x-y', 'registry.example/a/b/c:v1.0_x-y'],
    ['REGISTRY.example/a', 'REGISTRY.example/a:latest'],
    [`alpine@${digest}`, `docker.io/library/alpine@${digest}`],
    // A digest says which one it is, whatever the tag.
    [`alpine:3.22@${digest}`, `docker.io/library/alpine@${digest}`],
  ])('%s is %s', (text, complete) => {
    expect(formatReference(parseReference(text))).toBe(complete);
  });

  it.each([
    '',
    ' ',
    '-v',
    '--help',
    'Alpine',
    'alpine:',
    'alpine:-x',
    ':latest',
    'alpine@sha256:abc',
    `alpine@${digest}@${digest}`,
    `alpine@${digest.toUpperCase()}`,
    '/etc/passwd',
    './image',
    '../../x',
    'a//b',
    'a/../b',
    'a b',
    'a\nb',
    'a\0b',
    'host:0/x',
    'host:65536/x',
    'host:99999999/x',
    '-host.example/x',
    'user:password@host.example/x',
    'http://host.example/x',
    'oci:/etc',
    'oci-archive:/root/image.tar',
    'docker-archive:/x',
    'dir:/etc',
    'containers-storage:x',
    'docker://docker://x',
    `${'a'.repeat(300)}`,
    'x'.repeat(100_000),
  ])('refuses %j before anything happens, naming the parameter', (text) => {
    expect(() => parseReference(text)).toThrowError(
      expect.objectContaining({
        code: 'invalid_argument',
        fields: expect.objectContaining({ parameter: 'image' }),
      }),
    );
  });

  it('lets only the machine itself speak without TLS', () => {
    for (const host of ['localhost:5000', '127.0.0.1:5000', '127.9.9.9', '[::1]:5000']) {
      expect(parseReference(`${host}/x`).loopback, host).toBe(true);
    }
    for (const host of [
      '127.0.0.1.example:5000',
      'localhost.example',
      '10.0.0.1:5000',
      '[::2]:5000',
      '0.0.0.0:5000',
    ]) {
      expect(parseReference(`${host}/x`).loopback, host).toBe(false);
    }
  });

  it('gives any text back as a plain name or refuses it', () => {
    const part = fc.string({ unit: fc.constantFrom(...'aA0.-_:/@[] \n\0$;"\'\\'.split('')), maxLength: 60 });
    fc.assert(
      fc.property(fc.oneof(fc.string({ maxLength: 80, unit: 'binary' }), part), (text) => {
        let parsed: ReturnType<typeof parseReference>;
        try {
          parsed = parseReference(text);
        } catch (error) {
          expect(error).toBeInstanceOf(SandhavenError);
          return;
        }
        const complete = formatReference(parsed);
        expect(complete).toMatch(/^[A-Za-z0-9[][A-Za-z0-9.:_/@[\]-]*$/);
        expect(parseReference(complete)).toEqual(parsed);
      }),
      { numRuns: 5_000 },
    );
  });
});
