/** Multipart forms, read and written as streams. */
import { once } from 'node:events';
import { PassThrough, Readable, Writable } from 'node:stream';
import { buffer, text } from 'node:stream/consumers';
import { setTimeout as sleep } from 'node:timers/promises';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { boundaryOf, MultipartWriter, nameOf, partsOf, textOf } from '../../../src/surfaces/multipart.ts';

const never = new AbortController().signal;

function form(...parts: [name: string, content: string][]): string {
  const bodies = parts.map(
    ([name, content]) => `--b\r\nContent-Disposition: form-data; name="${name}"\r\n\r\n${content}\r\n`,
  );
  return `${bodies.join('')}--b--\r\n`;
}

async function read(body: Readable, boundary = 'b'): Promise<[string, string][]> {
  const found: [string, string][] = [];
  for await (const part of partsOf(body, boundary)) found.push([part.name, await textOf(part, 1_000_000)]);
  return found;
}

const from = (...pieces: string[]) => Readable.from(pieces.map((piece) => Buffer.from(piece)));

describe('reading', () => {
  it('finds the parts, wherever the body is cut', async () => {
    // Much of it looks like the end of a part.
    const content = fc.array(fc.constantFrom('\r', '\n', '-', 'b', '\r\n--', '\r\n--c', 'x', 'é'));
    await fc.assert(
      fc.asyncProperty(
        fc.array(content, { maxLength: 5 }),
        fc.infiniteStream(fc.nat(9)),
        async (all, cuts) => {
          const parts = all.map((words, index): [string, string] => [
            `f${index}`,
            words.join('').replaceAll('\r\n--b', ''),
          ]);
          fc.pre(parts.every(([, one]) => !`\r\n${one}\r\n`.includes('\r\n--b')));
          const bytes = Buffer.from(form(...parts));
          const pieces: Buffer[] = [];
          for (let at = 0; at < bytes.length; ) {
            const length = 1 + (cuts.next().value ?? 0);
            pieces.push(bytes.subarray(at, at + length));
            at += length;
          }
          expect(await read(Readable.from(pieces))).toEqual(parts);
        },
      ),
    );
  });

  it('takes headers in any order, and what stands before and after the parts', async () => {
    const body =
      'before\r\n--b\r\nContent-Type: text/plain\r\ncontent-disposition: form-data; filename="x; name=no"; name=a\r\n\r\n1\r\n--b--after';
    expect(await read(from(body))).toEqual([['a', '1']]);
  });

  it.each([
    ['', 'The multipart body ends before its last boundary.'],
    ['no form at all', 'The multipart body ends before its last boundary.'],
    [form(['a', '1']).slice(0, -5), 'The multipart body ends before its last boundary.'],
    ['--b\r\nContent-Type: text/plain\r\n\r\n1\r\n--b--', 'A part of the multipart body has no name.'],
    [
      '--bc\r\nContent-Disposition: form-data; name=a\r\n\r\n',
      'A part of the multipart body has no beginning.',
    ],
  ])('refuses %j', async (body, message) => {
    await expect(read(from(body))).rejects.toMatchObject({ code: 'invalid_argument', message });
  });

  it('bounds heads, texts and the number of parts', async () => {
    const tooLarge = { code: 'too_large' };
    await expect(read(from('x'.repeat(16_500)))).rejects.toMatchObject(tooLarge);
    await expect(read(from(`--b\r\nX: ${'x'.repeat(16_500)}`))).rejects.toMatchObject(tooLarge);
    const many = form(...Array.from({ length: 20_001 }, (): [string, string] => ['a', '']));
    await expect(read(from(many))).rejects.toMatchObject(tooLarge);
    for await (const part of partsOf(from(form(['a', '12345'])), 'b')) {
      await expect(textOf(part, 4)).rejects.toMatchObject(tooLarge);
    }
  });

  it('passes over what nobody reads', async () => {
    const names: string[] = [];
    for await (const { name, content } of partsOf(
      from(form(['a', '1'.repeat(100)], ['b', '2'.repeat(100)], ['c', ''])),
      'b',
    )) {
      names.push(name);
      if (name === 'b') await content.next();
    }
    expect(names).toEqual(['a', 'b', 'c']);
  });

  it('passes over the rest of a part whose reader has left while it waited', async () => {
    const body = new PassThrough();
    const [whole] = [form(['a', 'one two'], ['b', 'three'])];
    body.write(whole.slice(0, 60));
    const found: [string, string][] = [];
    for await (const part of partsOf(body, 'b')) {
      if (part.name === 'b') found.push([part.name, await textOf(part, 100)]);
      else {
        const reader = Readable.from(part.content);
        reader.on('error', () => {});
        await once(reader, 'readable');
        reader.destroy();
        setTimeout(() => body.end(whole.slice(60)), 20);
      }
    }
    expect(found).toEqual([['b', 'three']]);
  });

  it('takes no more of a body than its reader takes of a part', async () => {
    let made = 0;
    const endless = Readable.from(
      (function* () {
        yield Buffer.from('--b\r\nContent-Disposition: form-data; name="a"\r\n\r\n');
        for (;;) {
          made++;
          yield Buffer.alloc(1_000);
        }
      })(),
    );
    for await (const { content } of partsOf(endless, 'b')) {
      await content.next();
      await sleep(20);
      break;
    }
    expect(made).toBeLessThan(10);
    expect(endless.destroyed).toBe(false);
  });

  it('fails as the body fails', async () => {
    const body = new PassThrough();
    body.write('--b\r\nContent-Disposition: form-data; name="a"\r\n\r\n12');
    setTimeout(() => body.destroy(new Error('gone')), 20);
    await expect(read(body)).rejects.toThrow('gone');
  });
});

describe('heads', () => {
  it.each([
    ['multipart/form-data; boundary=abc', 'abc'],
    ['Multipart/Form-Data; charset=utf-8; Boundary="a b:c"', 'a b:c'],
    [`multipart/form-data; boundary=${'-'.repeat(70)}`, '-'.repeat(70)],
    [`multipart/form-data; boundary=${'-'.repeat(71)}`, null],
    ['multipart/form-data', null],
    ['multipart/mixed; boundary=abc', null],
    [undefined, null],
  ])('has the boundary of %s', (type, boundary) => {
    expect(boundaryOf(type)).toBe(boundary);
  });

  it.each([
    ['Content-Disposition: form-data; name="files[0].path"', 'files[0].path'],
    ['X: y\r\ncontent-disposition:form-data;name=a', 'a'],
    ['Content-Disposition: form-data; filename="\\"; name=\\"b"; name="a\\"\\\\"', 'a"\\'],
  ])('has the name in %s', (head, name) => {
    expect(nameOf(head)).toBe(name);
  });
});

describe('writing', () => {
  it('gives each part its head, as clients read it', async () => {
    const to = new PassThrough();
    const writer = new MultipartWriter(to, never);
    const [, boundary] = /^multipart\/form-data; boundary=([\w-]{40,70})$/.exec(writer.type) ?? [];
    const type = 'application/octet-stream';
    await writer.part({ name: 'file', filename: '/a/b c.txt', type, length: 2 }, [Buffer.from('12')]);
    await writer.part({ name: 'error', filename: `ü"\\\n'(`, type }, [Buffer.from('3')]);
    await writer.end();
    to.end();
    expect(await text(to)).toBe(
      [
        `--${boundary}`,
        'Content-Disposition: form-data; name="file"; filename="/a/b c.txt"',
        'Content-Type: application/octet-stream',
        'Content-Length: 2',
        '',
        '12',
        `--${boundary}`,
        `Content-Disposition: form-data; name="error"; filename="ü\\"\\\\_'("; filename*=utf-8''%C3%BC%22%5C%0A%27%28`,
        'Content-Type: application/octet-stream',
        '',
        '3',
        `--${boundary}--`,
        '',
      ].join('\r\n'),
    );
  });

  it('is read by Node, too', async () => {
    const to = new PassThrough();
    const writer = new MultipartWriter(to, never);
    await writer.part({ name: 'file', filename: 'a b.txt', type: 'text/plain' }, [Buffer.from('12')]);
    await writer.end();
    to.end();
    const response = new Response(new Uint8Array(await buffer(to)), {
      headers: { 'content-type': writer.type },
    });
    const file = (await response.formData()).get('file') as File;
    expect([file.name, await file.text()]).toEqual(['a b.txt', '12']);
  });

  it('writes no more than was announced, and fails with less', async () => {
    const to = new PassThrough();
    const writer = new MultipartWriter(to, never);
    const head = { name: 'file', filename: 'a', type: 'text/plain', length: 3 };
    await writer.part(head, [Buffer.from('12'), Buffer.from('345'), Buffer.from('6')]);
    await expect(writer.part(head, [Buffer.from('12')])).rejects.toThrow('shorter than announced');
    to.end();
    expect(await text(to)).toContain('\r\n\r\n123\r\n--part-');
  });

  it('waits for its reader, until that has gone', async () => {
    const gone = new AbortController();
    let taken = 0;
    const slow = new Writable({
      highWaterMark: 10,
      write: (chunk: Buffer) => {
        taken += chunk.length;
      },
    });
    const writer = new MultipartWriter(slow, gone.signal);
    const part = writer.part({ name: 'file', filename: 'a', type: 'text/plain' }, [Buffer.alloc(1_000)]);
    setTimeout(() => gone.abort(), 20);
    await expect(part).rejects.toThrow('aborted');
    expect(taken).toBeLessThan(1_000);
  });
});
