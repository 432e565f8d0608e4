/** Listing, finding and what is known of one file. */
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { type ScratchSandbox, startScratchSandbox } from '../scratch-sandbox.ts';

let sandbox: ScratchSandbox;
beforeAll(async () => {
  sandbox = await startScratchSandbox();
});
afterAll(() => sandbox[Symbol.asyncDispose]());
beforeEach(() => sh('rm -rf /workspace/* /workspace/.[!.]*'));

const sh = async (command: string) => (await sandbox.sh(`set -e; ${command}`, { timeoutMs: 60_000 })).stdout;
const list = (path = '.', pattern?: string, maxItems = 50, offset = 0) =>
  sandbox.agent.list(sandbox.id, { path, maxItems, offset, ...(pattern === undefined ? {} : { pattern }) });
const names = async (...parameters: Parameters<typeof list>) =>
  (await list(...parameters)).items.map(({ name }) => name);
const find = (pattern: string, path = '.', maxItems = 50, offset = 0) =>
  sandbox.agent.find(sandbox.id, { path, pattern, maxItems, offset });
const stat = (path: string) => sandbox.agent.stat(sandbox.id, { path });
const fails = (call: Promise<unknown>, code: string, parameter: string) =>
  expect(call).rejects.toMatchObject({ code, fields: { parameter } });

describe('listing', () => {
  it('[WIRE-FILES-02] is sorted, one level deep, and all but folders are files', async () => {
    await sh('mkdir -p b/deep; printf 123 > a; ln -s b c; mkfifo d; ln -s nowhere e; touch .hidden É');
    const { items, totalCount, path } = await list();
    expect(path).toBe('.');
    expect(totalCount).toBe(7);
    expect(items.map(({ name, type, link }) => [name, type, link])).toEqual([
      ['.hidden', 'file', false],
      ['a', 'file', false],
      ['b', 'dir', false],
      ['c', 'file', true],
      ['d', 'file', false],
      ['e', 'file', true],
      ['É', 'file', false],
    ]);
    expect(items[1]?.size).toBe(3);
  });

  it('[SBX-FILES-04] keeps the names that match the pattern', async () => {
    await sh('touch a.ts b.tsx c.js é.ts "x y" "n\nl"');
    expect(await names('.', '*.{ts,tsx}')).toEqual(['a.ts', 'b.tsx', 'é.ts']);
    expect(await names('.', '?.ts')).toEqual(['a.ts', 'é.ts']);
    expect(await names('.', '[!a-c]*')).toEqual(['n\nl', 'x y', 'é.ts']);
    await fails(list('.', '[a'), 'invalid_argument', 'pattern');
  });

  it('of what is no folder is invalid_argument, of nothing not_found', async () => {
    await sh('touch file; mkfifo fifo; ln -s . self');
    for (const path of ['file', 'fifo']) await fails(list(path), 'invalid_argument', 'path');
    for (const path of ['nope', 'file/x']) await fails(list(path), 'not_found', 'path');
    expect(await names('self')).toContain('self');
    expect(await names('/')).toContain('workspace');
  });

  it('[WIRE-FILES-24] names that are not UTF-8 come as U+F700 + byte, and work as parameters', async () => {
    await sh(
      String.raw`printf x > "$(printf 'a\xff\x80b')"; printf y > "$(printf '\xef\x9f\xbf')"; printf z > 'plain'`,
    );
    const all = await names();
    expect(all.toSorted()).toEqual(['a\uf7ff\uf780b', 'plain', '\uf7ef\uf79f\uf7bf'].toSorted());
    for (const [name, content] of [
      ['a\uf7ff\uf780b', 'x'],
      ['\uf7ef\uf79f\uf7bf', 'y'],
    ] as const) {
      expect((await sandbox.agent.read(sandbox.id, { path: name })).content.toString()).toBe(content);
      expect(await names('.', name)).toEqual([name]);
    }
    await sandbox.agent.write(sandbox.id, { path: 'w\uf7fe', createParents: true, content: Buffer.from('') });
    expect(await sh("ls w* | od -An -c | tr -d ' '")).toBe('w376\\n\n');
  });

  it('of 50,000 files gives its page fast, and the count of all', async () => {
    await sh('mkdir many; cd many; seq -f "%06.0f" 1 50000 | xargs touch');
    const before = sandbox.processorMs();
    const { items, totalCount } = await list('many', undefined, 3, 25_000);
    const ms = sandbox.processorMs() - before;
    expect(ms).toBeGreaterThan(0);
    expect(ms).toBeLessThan(500);
    expect(totalCount).toBe(50_000);
    expect(items.map(({ name }) => name)).toEqual(['025001', '025002', '025003']);
    expect((await list('many', undefined, 5, 49_998)).items).toHaveLength(2);
    expect((await list('many', undefined, 5, 200_000)).items).toHaveLength(0);
    const found = await find('*49999', 'many');
    expect(found).toEqual({ items: ['many/049999'], totalCount: 1 });
    await sandbox.agent.remove(sandbox.id, { path: 'many', recursive: true });
  });
});

describe('finding', () => {
  it('[WIRE-FILES-03] is recursive, sorted, shows hidden ones and follows no link', async () => {
    await sh(
      'mkdir -p b/.git/x a; touch a/1.py b/.git/2.py b/.git/x/3.py 0.py; ln -s / root; ln -s b more.py',
    );
    expect((await find('*.py')).items).toEqual(['0.py', 'a/1.py', 'b/.git/2.py', 'b/.git/x/3.py', 'more.py']);
    expect(await find('*.py', '.', 2, 1)).toEqual({ items: ['a/1.py', 'b/.git/2.py'], totalCount: 5 });
    expect((await find('x')).items).toEqual(['b/.git/x']);
  });

  it('[WIRE-FILES-04] paths are relative to the sandbox root inside it, and absolute outside', async () => {
    await sh('mkdir -p a/b; touch a/b/c');
    expect((await find('c', 'a')).items).toEqual(['a/b/c']);
    expect((await find('c', '/workspace/a/b')).items).toEqual(['a/b/c']);
    expect((await find('hostname', '/etc')).items).toEqual(['/etc/hostname']);
    expect((await find('a/**/c')).items).toEqual(['a/b/c']);
  });

  it('of hostile trees ends', async () => {
    await sh('d=$(printf "d%.0s" $(seq 200)); for i in $(seq 100); do mkdir $d; cd $d; done; touch deep');
    expect((await find('deep')).totalCount).toBe(0);
    expect((await find('d*', '.', 200)).totalCount).toBeGreaterThan(15);
    expect((await find('nothing', '/proc')).totalCount).toBe(0);
  });

  it('stops when the host cancels', async () => {
    const controller = new AbortController();
    const call = sandbox.agent.find(
      sandbox.id,
      { path: '/', pattern: '*', maxItems: 1, offset: 0 },
      controller.signal,
    );
    setTimeout(() => controller.abort(new Error('enough')), 5);
    await expect(call).rejects.toThrow('enough');
  });
});

describe('the details of a file', () => {
  it('[WIRE-FILES-05] are type, size, mode, owner, group and time', async () => {
    await sh(`printf 12345 > a; chown daemon:4321 a; chmod 2751 a; touch -d '2020-01-02 03:04:05.678Z' a`);
    expect(await stat('a')).toEqual({
      path: 'a',
      type: 'file',
      size: 5,
      mode: 0o2751,
      owner: 'daemon',
      group: '4321',
      modifiedMs: Date.parse('2020-01-02T03:04:05.678Z'),
    });
  });

  it('[WIRE-FILES-06] are those of the last link itself; links before it are followed', async () => {
    await sh('mkdir d; touch d/f; ln -s d link; ln -s nowhere dangling; mkfifo fifo');
    for (const [path, type] of [
      ['link', 'symlink'],
      ['dangling', 'symlink'],
      ['link/f', 'file'],
      ['d', 'dir'],
      ['fifo', 'other'],
      ['.', 'dir'],
      ['/', 'dir'],
      ['d/..', 'dir'],
      ['/dev/null', 'other'],
    ]) {
      expect((await stat(path as string)).type).toBe(type);
    }
    for (const path of ['nope', 'dangling/x']) await fails(stat(path), 'not_found', 'path');
  });

  it('show owners as numbers when the sandbox has spoiled its user names', async () => {
    await sh('touch a; mv /etc/passwd keep; mkfifo /etc/passwd');
    expect((await stat('a')).owner).toBe('0');
    // No shell starts while it waits for that pipe.
    await sandbox.agent.remove(sandbox.id, { path: '/etc/passwd', recursive: false });
    await sandbox.agent.move(sandbox.id, { source: 'keep', destination: '/etc/passwd' });
  });
});
