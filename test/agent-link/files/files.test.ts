import { createHash } from 'node:crypto';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { type ScratchSandbox, startScratchSandbox } from '../scratch-sandbox.ts';

const CONTENT_BYTES = 16 * 1024 * 1024;

let sandbox: ScratchSandbox;
beforeAll(async () => {
  sandbox = await startScratchSandbox();
});
afterAll(() => sandbox[Symbol.asyncDispose]());
beforeEach(() => sh('rm -rf /workspace/* /workspace/.[!.]*'));

async function sh(command: string): Promise<string> {
  const { output, exitCode } = await sandbox.sh(`set -e; ${command}`, { timeoutMs: 30_000 });
  if (exitCode !== 0) throw new Error(output);
  return output;
}
const read = (path: string, startLine?: number, endLine?: number) =>
  sandbox.agent.read(sandbox.id, {
    path,
    ...(startLine === undefined ? {} : { startLine }),
    ...(endLine === undefined ? {} : { endLine }),
  });
const text = async (...parameters: Parameters<typeof read>) => (await read(...parameters)).content.toString();
const write = (
  path: string,
  content: string | Buffer,
  extra: { mode?: number; createParents?: boolean; durable?: boolean; newBeneath?: string } = {},
) => sandbox.agent.write(sandbox.id, { path, createParents: true, content: Buffer.from(content), ...extra });
const mkdir = (path: string, mode = 0o755) => sandbox.agent.createFolder(sandbox.id, { path, mode });
const move = (source: string, destination: string) => sandbox.agent.move(sandbox.id, { source, destination });
const remove = (path: string, recursive = false) => sandbox.agent.remove(sandbox.id, { path, recursive });
const fails = (call: Promise<unknown>, code: string, parameter?: string) =>
  expect(call).rejects.toMatchObject({ code, fields: parameter ? { parameter } : {} });

/** One of each kind that is no regular file. */
const ODD =
  'mkfifo fifo; ln -s /dev/zero device; mkdir folder; perl -MSocket -e \'socket(S,AF_UNIX,SOCK_STREAM,0); bind(S,sockaddr_un("socket"))\'';

describe('reading', () => {
  it('[WIRE-FILES-08] ranges of lines join to the exact bytes', async () => {
    await write('a', 'one\ntwo\r\nthree');
    expect(await read('a')).toMatchObject({ size: 14, totalLines: 3, startLine: 1, endLine: 3 });
    expect((await text('a', 1, 1)) + (await text('a', 2, 2)) + (await text('a', 3))).toBe(
      'one\ntwo\r\nthree',
    );
  });

  it('[WIRE-FILES-10] a start past the end gives nothing', async () => {
    await write('a', 'one\n');
    expect(await read('a', 9)).toMatchObject({ content: Buffer.alloc(0), totalLines: 1 });
    await write('empty', '');
    expect(await read('empty')).toMatchObject({ content: Buffer.alloc(0), totalLines: 0, size: 0 });
  });

  it('[WIRE-FILES-11] an end before the start is refused', async () => {
    await write('a', 'one\n');
    await fails(read('a', 2, 1), 'invalid_argument', 'end_line');
    await fails(read('a', 0), 'invalid_argument', 'start_line');
  });

  it('[WIRE-FILES-12] refuses anything but a regular file, and never blocks', async () => {
    await sh(ODD);
    for (const path of ['fifo', 'device', 'folder', 'socket', '/dev/null', '.']) {
      await fails(read(path), 'invalid_argument', 'path');
      await fails(sandbox.agent.readStream(sandbox.id, { path }), 'invalid_argument', 'path');
    }
  });

  it('files that the kernel makes up are read whole', async () => {
    expect(await text('/proc/sys/kernel/ostype')).toBe('Linux\n');
    await fails(read('/proc/1/comm'), 'permission_denied', 'path');
    const { size, stream } = await sandbox.agent.readStream(sandbox.id, { path: '/proc/cpuinfo' });
    let bytes = 0;
    for await (const chunk of stream) bytes += (chunk as Buffer).length;
    expect(bytes).toBe(size);
    expect(size).toBeGreaterThan(100);
  });

  it('of more than the bound is too_large, of a part of it is not', async () => {
    await sh(`yes ${'x'.repeat(99)} | head -c ${CONTENT_BYTES + 100} > large`);
    await fails(read('large'), 'too_large', 'path');
    expect(await text('large', 100_000, 100_001)).toBe(`${'x'.repeat(99)}\n`.repeat(2));
    expect((await read('large', 2)).content.length).toBe(CONTENT_BYTES);
    expect((await read('large', 1, 1)).totalLines).toBe(Math.ceil((CONTENT_BYTES + 100) / 100));
  });

  it('fails with not_found for a missing file and for a path through a file', async () => {
    await write('file', '');
    for (const path of ['nope', 'no/pe', 'file/x', '../nope']) await fails(read(path), 'not_found', 'path');
    await fails(read(`${'x'.repeat(300)}`), 'invalid_argument', 'path');
    await fails(read('x/'.repeat(3_000)), 'invalid_argument', 'path');
    await fails(read('a\0b'), 'invalid_argument', 'path');
    await fails(
      read('a').then(() => sh('ln -s a a')),
      'not_found',
    );
    await sh('ln -s loop loop');
    await fails(read('loop'), 'invalid_argument', 'path');
  });
});

describe('streaming', () => {
  it('a large file goes in and comes out byte for byte, whole and in parts', async () => {
    const content = Buffer.from(Array.from({ length: 3_000_000 }, (_, index) => (index * 7919) >> 8));
    const digest = (bytes: Buffer) => createHash('sha256').update(bytes).digest('hex');
    await write('large', content);
    expect((await sh('sha256sum large')).split(' ')[0]).toBe(digest(content));
    for (const [start, end] of [
      [undefined, undefined],
      [0, 0],
      [1_000, 2_999_998],
      [2_999_999, 9_999_999],
      [3_000_000, undefined],
    ] as const) {
      const range = { ...(start === undefined ? {} : { start }), ...(end === undefined ? {} : { end }) };
      const { size, stream } = await sandbox.agent.readStream(sandbox.id, { path: 'large', ...range });
      const parts: Buffer[] = [];
      for await (const chunk of stream) parts.push(chunk as Buffer);
      expect(size).toBe(content.length);
      const expected = content.subarray(start ?? 0, (end ?? content.length) + 1);
      expect(digest(Buffer.concat(parts))).toBe(digest(expected));
    }
  });

  it('a reader that stops ends the work inside', async () => {
    await sh('truncate -s 200M large');
    const { stream } = await sandbox.agent.readStream(sandbox.id, { path: 'large' });
    stream.once('data', () => stream.destroy());
    await new Promise((closed) => stream.once('close', closed));
    await expect.poll(() => sh('ls /proc/1/fd | wc -l')).toBe(await sh('ls /proc/1/fd | wc -l'));
  });

  it('a file that shrinks on the way is an error, not a short file', async () => {
    await sh('truncate -s 50M large');
    const { stream } = await sandbox.agent.readStream(sandbox.id, { path: 'large' });
    await sh('truncate -s 1 large');
    await expect(stream.toArray()).rejects.toMatchObject({ code: 'failed_precondition' });
  });
});

describe('writing', () => {
  it('[WIRE-FILES-13] returns the bytes written and whether the file is new', async () => {
    expect(await write('deep/er/a', 'hé')).toEqual({ bytesWritten: 3, created: true });
    expect(await write('deep/er/a', '')).toEqual({ bytesWritten: 0, created: false });
    expect(await sh('stat -c "%a %s" deep deep/er deep/er/a')).toMatch(/^755 \d+\n755 \d+\n644 0\n$/);
  });

  it('[WIRE-FILES-14] replaces atomically and keeps mode and owner', async () => {
    await sh('echo old > a; chown 12:34 a; chmod 4751 a; ln a other');
    await write('a', 'new');
    expect(await sh('stat -c "%a %u %g" a; cat a other')).toBe('4751 12 34\nnewold\n');
    await write('a', 'newer', { mode: 0o600 });
    expect(await sh('stat -c "%a" a')).toBe('600\n');
  });

  it('a durable write is written as any other', async () => {
    expect(await write('kept/a', 'x', { durable: true })).toEqual({ bytesWritten: 1, created: true });
    expect(await write('kept/a', 'yy', { durable: true, mode: 0o600 })).toEqual({
      bytesWritten: 2,
      created: false,
    });
    expect(await text('kept/a')).toBe('yy');
  });

  it('[SBX-FILES-19] without its folder is not_found unless parents are made', async () => {
    await fails(write('no/where', 'x', { createParents: false }), 'not_found', 'path');
    expect(await sh('ls -A')).toBe('');
  });

  it('goes through a link, to where it leads', async () => {
    await sh('mkdir d; echo old > d/target; ln -s d/target link; ln -s /workspace/d/fresh dangling');
    await write('link', 'new');
    await write('dangling', 'born');
    expect(await sh('readlink link dangling; cat d/target d/fresh')).toBe(
      'd/target\n/workspace/d/fresh\nnewborn',
    );
  });

  it('onto what is no regular file is refused', async () => {
    await sh(ODD);
    for (const path of ['fifo', 'device', 'folder', 'socket', '/dev/null', '.', '..', 'folder/']) {
      await fails(write(path, 'x'), 'invalid_argument', 'path');
    }
    await sh('echo > file');
    await fails(write('file/x', 'x'), 'already_exists', 'path');
  });

  it('leaves nothing behind when it is cancelled or fails', async () => {
    const controller = new AbortController();
    const { Readable } = await import('node:stream');
    async function* forever() {
      yield Buffer.alloc(1 << 20);
      controller.abort(new Error('enough'));
      await new Promise(() => {});
    }
    const content = Readable.from(forever());
    const query = { path: 'a', createParents: true, content };
    await expect(sandbox.agent.write(sandbox.id, query, controller.signal)).rejects.toThrow('enough');
    await expect.poll(() => sh('ls -A')).toBe('');
    async function* broken() {
      yield Buffer.alloc(1 << 20);
      throw new Error('torn');
    }
    const torn = { path: 'a', createParents: true, content: Readable.from(broken()) };
    await expect(sandbox.agent.write(sandbox.id, torn)).rejects.toThrow('torn');
    await expect.poll(() => sh('ls -A')).toBe('');
  });

  it('of a new file replaces nothing: neither a file, nor a link, nor what was made meanwhile', async () => {
    const extra = { newBeneath: '/workspace' };
    expect(await write('made/a', 'one\n', extra)).toEqual({ bytesWritten: 4, created: true });
    await sh('ln -s made/a link; ln -s nowhere dangling; mkdir folder');
    for (const path of ['made/a', 'link', 'dangling', 'folder']) {
      await fails(write(path, 'two\n', extra), 'already_exists', 'path');
    }
    const { Readable } = await import('node:stream');
    async function* late() {
      yield Buffer.alloc(4 << 20);
      await sh('echo theirs > late');
      yield Buffer.alloc(1);
    }
    const query = { path: 'late', createParents: true, content: Readable.from(late()), ...extra };
    await fails(sandbox.agent.write(sandbox.id, query), 'already_exists', 'path');
    const both = await Promise.allSettled(Array.from({ length: 8 }, () => write('race', 'x', extra)));
    expect(both.filter(({ status }) => status === 'fulfilled')).toHaveLength(1);
    expect(await sh('cat made/a late; ls -A . made')).toBe(
      'one\ntheirs\n.:\ndangling\nfolder\nlate\nlink\nmade\nrace\n\nmade:\na\n',
    );
  });

  it('of a new file stays in its folder, wherever links lead', async () => {
    const extra = { newBeneath: '/workspace' };
    await sh(
      'mkdir -p inner /tmp/elsewhere; ln -s /tmp/elsewhere out; ln -s /workspace/inner in; ln -s / root',
    );
    for (const path of ['/tmp/a', '../tmp/a', 'out/a', 'out/made/a', 'root/etc/a', 'inner/../out/a']) {
      await fails(write(path, 'x', extra), 'invalid_argument', 'path');
    }
    for (const path of ['a', 'in/b', 'root/workspace/c', 'out/../../workspace/d']) {
      expect(await write(path, 'x', extra)).toMatchObject({ created: true });
    }
    expect(await sh('ls -A /tmp/elsewhere; rm -r /tmp/elsewhere; ls -d a inner/b c d')).toBe(
      'a\nc\nd\ninner/b\n',
    );
  });

  it('onto a full disk is resource_exhausted, and leaves the old file', async () => {
    await using small = await startScratchSandbox({ diskBytes: 8 << 20 });
    const put = (content: Buffer) => small.agent.write(small.id, { path: 'a', createParents: true, content });
    await put(Buffer.from('old'));
    await expect(put(Buffer.alloc(12 << 20))).rejects.toMatchObject({ code: 'resource_exhausted' });
    expect((await small.sh('cat a; ls -A')).stdout).toBe('olda\n');
  });
});

describe('folders', () => {
  it('[WIRE-FILES-17] have exactly the mode asked for, and their parents 0755', async () => {
    expect(await mkdir('p/q/r', 0o2777)).toEqual({ created: true });
    expect(await sh('stat -c %a p p/q p/q/r')).toBe('755\n755\n2777\n');
  });

  it('[WIRE-FILES-18] may exist already; a file in their place is already_exists', async () => {
    await sh('mkdir d; chmod 700 d; ln -s d link; touch file; ln -s nowhere dangling');
    expect(await mkdir('d')).toEqual({ created: false });
    expect(await mkdir('link')).toEqual({ created: false });
    expect(await mkdir('.')).toEqual({ created: false });
    expect(await mkdir('d/../e')).toEqual({ created: true });
    for (const path of ['file', 'file/x', 'dangling']) await fails(mkdir(path), 'already_exists', 'path');
    expect(await sh('stat -c %a d')).toBe('700\n');
  });
});

describe('moving', () => {
  it('[WIRE-FILES-19] renames, and never onto what is there', async () => {
    await sh('echo a > a; echo b > b; mkdir d; ln -s a link');
    await move('a', 'd/c');
    await move('link', 'd/link');
    expect(await sh('cat d/c; readlink d/link; ls')).toBe('a\na\nb\nd\n');
    for (const destination of ['b', 'd', 'd/c'])
      await fails(move('b', destination), 'already_exists', 'destination');
  });

  it('[WIRE-FILES-20] needs the folder, and goes not into itself', async () => {
    await sh('mkdir -p d/e; touch a');
    await fails(move('a', 'no/where'), 'not_found', 'destination');
    await fails(move('nope', 'b'), 'not_found', 'source');
    await fails(move('d', 'd/e/f'), 'invalid_argument', 'destination');
    await fails(move('.', 'x'), 'invalid_argument', 'source');
    await fails(move('/workspace', '/x'), 'invalid_argument', 'source');
  });

  it('across file systems keeps modes, owners, times and links, and is all or nothing', async () => {
    await sh(`mkdir -p t/sub; echo x > t/sub/file; chmod 4750 t/sub/file; chown 5:6 t/sub/file; chmod 1700 t/sub
      ln t/sub/file t/hard; ln -s sub/file t/soft; mkfifo -m 640 t/fifo; touch -d '2001-02-03 04:05:06.5Z' t/sub/file t/sub t`);
    const look = (at: string) =>
      sh(`cd ${at}; find . -printf '%P %y %m %U:%G %T@ %l\\n' | sort; stat -c %h hard; cat soft`);
    const before = await look('t');
    await move('t', '/dev/shm/moved-by-test');
    expect(await look('/dev/shm/moved-by-test')).toBe(before);
    expect(await sh('ls -A')).toBe('');
    await fails(move('/dev/shm/moved-by-test', '/proc/x'), 'not_found');
    expect(await look('/dev/shm/moved-by-test')).toBe(before);
    await move('/dev/shm/moved-by-test', 'back');
    expect(await look('back')).toBe(before);
    expect(await sh('ls -A /dev/shm')).not.toContain('moved-by-test');
  });

  it('a folder of the image goes too', async () => {
    const before = await sh('cd /usr/share/perl5 && find . | sort | sha256sum');
    await move('/usr/share/perl5', '/workspace/perl5');
    expect(await sh('cd perl5 && find . | sort | sha256sum')).toBe(before);
    await move('perl5', '/usr/share/perl5');
    await fails(read('/usr/share/perl5/nope'), 'not_found');
  });
});

describe('deleting', () => {
  it('[WIRE-FILES-21] takes a link itself, never what it leads to', async () => {
    await sh('mkdir d; touch d/kept; ln -s d link; ln -s d/ slashed; touch file; mkfifo fifo');
    for (const path of ['link', 'slashed/', 'file', 'fifo']) await remove(path, true);
    expect(await sh('ls -R')).toBe('.:\nd\n\n./d:\nkept\n');
  });

  it('[WIRE-FILES-22] needs recursive for a folder with something in it', async () => {
    await sh('mkdir -p d/e empty');
    await fails(remove('d'), 'failed_precondition', 'path');
    await remove('empty');
    await remove('d', true);
    await fails(remove('d', true), 'not_found', 'path');
  });

  it('[WIRE-FILES-23] takes neither the sandbox root nor /', async () => {
    await sh('mkdir d; ln -s /workspace d/up');
    for (const path of [
      '.',
      '/',
      '/workspace',
      '/workspace/',
      '..',
      'd/..',
      '/workspace/.',
      '//',
      'd/up/../workspace',
      '',
    ]) {
      await fails(remove(path, true), 'invalid_argument', 'path');
    }
    await remove('d/up', true);
    expect(await sh('ls')).toBe('d\n');
  });

  it('of a tree deeper than a path can be long', async () => {
    await sh('d=$(printf "d%.0s" $(seq 200)); for i in $(seq 300); do mkdir $d; cd $d; done; echo > file');
    await remove('d'.repeat(200), true);
    expect(await sh('ls')).toBe('');
  });

  it('follows no folder that is swapped for a link meanwhile', async () => {
    await sh('mkdir -p kept t; for i in $(seq 200); do mkdir -p t/$i/x; touch t/$i/x/f kept/f$i; done');
    const swap = sandbox.sh(
      'for i in $(seq 200); do mv t/$i aside.$i 2>/dev/null && ln -s ../kept t/$i 2>/dev/null; done; true',
      { timeoutMs: 20_000 },
    );
    await remove('t', true).catch(() => {});
    await swap;
    expect(await sh('ls kept | wc -l')).toBe('200\n');
  });
});
