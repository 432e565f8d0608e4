import { randomBytes } from 'node:crypto';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { call, must } from '../support/service.ts';
import { type SharedService, sharedService } from '../support/shared-service.ts';

let service: SharedService;

beforeAll(async () => {
  service = await sharedService();
  await must(service, 'CreateSandbox', { disk_gb: 2 });
}, 120_000);

afterAll(() => service?.stop());

const run = (command: string) => must(service, 'RunCommand', { command });
const code = async (tool: string, parameters: Record<string, unknown>) =>
  (await call(service, tool, parameters)).body['code'];
const bytes = (path: string, init: RequestInit = {}) =>
  fetch(`${service.url}/v1/sandboxes/${sandbox()}/files?path=${encodeURIComponent(path)}`, {
    ...init,
    headers: { authorization: `Bearer ${service.apiKey}`, ...init.headers },
  });
let only = '';
const sandbox = () => only;

beforeAll(async () => {
  const { sandboxes } = (await must(service, 'ListSandboxes')) as { sandboxes: { id: string }[] };
  only = sandboxes[0]?.id ?? '';
});

describe('reading and writing', () => {
  it('[SBX-FILES-12] ReadFile requires a path, which starts at the sandbox root unless it is absolute', async () => {
    await must(service, 'WriteFile', { path: '/workspace/rooted/here', content: 'found' });
    for (const path of ['rooted/here', './rooted/here', '/workspace/rooted/here']) {
      expect(await must(service, 'ReadFile', { path })).toMatchObject({ content: 'found' });
    }
    expect(await code('ReadFile', { path: '/rooted/here' })).toBe('not_found');
    expect(await code('ReadFile', {})).toBe('invalid_argument');
  });

  it('[WIRE-FILES-08] [SBX-FILES-13] [SBX-FILES-15] ranges joined are the exact bytes, whatever the line ends', async () => {
    const content = 'one\r\ntwo\n\nfour without an end';
    await must(service, 'WriteFile', { path: 'lines', content });
    const whole = await must(service, 'ReadFile', { path: 'lines' });
    expect(whole).toMatchObject({
      content,
      total_lines: 4,
      start_line: 1,
      end_line: 4,
      size: content.length,
    });
    let joined = '';
    for (const line of [1, 2, 3, 4]) {
      joined += (await must(service, 'ReadFile', { path: 'lines', start_line: line, end_line: line }))[
        'content'
      ];
    }
    expect(joined).toBe(content);
    expect(await must(service, 'ReadFile', { path: 'lines', start_line: 9 })).toMatchObject({ content: '' });
    expect(await code('ReadFile', { path: 'lines', start_line: 3, end_line: 2 })).toBe('invalid_argument');
    expect(await code('ReadFile', { path: 'lines', start_line: 0 })).toBe('invalid_argument');
  });

  it('[WIRE-FILES-09] [WIRE-FILES-15] content that is not UTF-8 goes in and out as base64', async () => {
    const content = randomBytes(1000).toString('base64');
    await must(service, 'WriteFile', { path: 'binary', content, encoding: 'base64' });
    expect(await must(service, 'ReadFile', { path: 'binary' })).toMatchObject({
      content,
      encoding: 'base64',
    });
  });

  it('[SBX-FILES-18] [SBX-FILES-19] [WIRE-FILES-13] [WIRE-FILES-14] parents, mode and atomic replacement', async () => {
    expect(await code('WriteFile', { path: 'p/q/r', content: '', create_parents: false })).toBe('not_found');
    expect(await must(service, 'WriteFile', { path: 'p/q/r', content: 'é' })).toMatchObject({
      bytes_written: 2,
      created: true,
    });
    await run('chmod 751 p/q/r');
    expect(await must(service, 'WriteFile', { path: 'p/q/r', content: 'new' })).toMatchObject({
      created: false,
    });
    expect(await must(service, 'GetFileInfo', { path: 'p/q/r' })).toMatchObject({
      mode: '0751',
      permissions: 'rwxr-x--x',
      owner: 'root',
    });
    expect((await run('ls -A p/q'))['stdout']).toBe('r\n');
  });

  it('the byte route streams, honours ranges, and refuses what is not there', async () => {
    const content = randomBytes(3_000_000);
    const put = await bytes('big.bin', { method: 'PUT', body: content });
    expect(put.status).toBe(200);
    const whole = await bytes('big.bin');
    expect(Buffer.from(await whole.arrayBuffer()).equals(content)).toBe(true);
    const part = await bytes('big.bin', { headers: { range: 'bytes=1000000-1999999' } });
    expect(part.status).toBe(206);
    expect(Buffer.from(await part.arrayBuffer()).equals(content.subarray(1_000_000, 2_000_000))).toBe(true);
    expect((await bytes('nothing')).status).toBe(404);
    expect((await bytes('big.bin', { headers: { range: 'bytes=9000000-' } })).status).toBe(416);
  });
});

describe('folders, moves and deletions', () => {
  it('[SBX-FILES-20] [SBX-FILES-21] [WIRE-FILES-17] [WIRE-FILES-18] modes are exact whatever the umask', async () => {
    expect(await must(service, 'CreateFolder', { path: 'f/g', mode: '1777' })).toMatchObject({
      created: true,
    });
    expect(await must(service, 'GetFileInfo', { path: 'f/g' })).toMatchObject({ type: 'dir', mode: '1777' });
    expect(await must(service, 'CreateFolder', { path: 'f/g' })).toMatchObject({ created: false });
    await must(service, 'WriteFile', { path: 'f/file', content: '' });
    expect(await code('CreateFolder', { path: 'f/file' })).toBe('already_exists');
    expect(await code('CreateFolder', { path: 'h', mode: '899' })).toBe('invalid_argument');
  });

  it('[WIRE-FILES-19] [WIRE-FILES-20] a move overwrites nothing and stays out of itself', async () => {
    await run('mkdir -p m/n && echo 1 > m/one && echo 2 > m/two');
    expect(await code('MoveFile', { source: 'm/one', destination: 'm/two' })).toBe('already_exists');
    expect(await code('MoveFile', { source: 'm/one', destination: 'missing/one' })).toBe('not_found');
    expect(await code('MoveFile', { source: 'm', destination: 'm/n/m' })).toBe('invalid_argument');
    await must(service, 'MoveFile', { source: 'm/one', destination: '/dev/shm/one' });
    await must(service, 'MoveFile', { source: '/dev/shm/one', destination: 'm/back' });
    expect((await run('cat m/back m/two; ls /dev/shm'))['stdout']).toBe('1\n2\n');
  });

  it('a folder of the base image moves as a whole', async () => {
    await must(service, 'MoveFile', { source: '/usr/share/zoneinfo', destination: '/workspace/zones' });
    expect((await run('ls zones | head -1 | wc -l; test -e /usr/share/zoneinfo; echo $?'))['stdout']).toBe(
      '1\n1\n',
    );
  });

  it('[WIRE-FILES-21] [WIRE-FILES-22] [WIRE-FILES-23] [SBX-FILES-24] a deletion takes the link and not its target', async () => {
    await run('mkdir -p d/full && echo x > d/full/file && ln -s full d/link && ln -s /nowhere d/dangling');
    expect(await code('DeleteFile', { path: 'd/full' })).toBe('failed_precondition');
    for (const path of ['d/link', 'd/dangling']) await must(service, 'DeleteFile', { path, recursive: true });
    expect((await run('cat d/full/file'))['stdout']).toBe('x\n');
    await must(service, 'DeleteFile', { path: 'd', recursive: true });
    for (const path of ['/', '.', '/workspace', '/workspace/../workspace/']) {
      expect(await code('DeleteFile', { path, recursive: true }), path).toBe('invalid_argument');
    }
    expect(await code('DeleteFile', { path: 'd' })).toBe('not_found');
  });

  it('a deletion is not led astray by a folder that is swapped for a link under it', async () => {
    await run('mkdir -p /precious && for n in $(seq 500); do echo kept > /precious/$n; done');
    await run(
      'nohup bash -c "while test ! -e /tmp/enough; do rm -rf s; mkdir -p s/a; touch s/a/{1..50}; mv s/a s/b; ln -s /precious s/a; done" >/dev/null 2>&1 &',
    );
    for (let n = 0; n < 40; n++) await call(service, 'DeleteFile', { path: 's', recursive: true });
    await run('touch /tmp/enough');
    expect((await run('ls /precious | wc -l'))['stdout']).toBe('500\n');
  }, 60_000);
});

describe('listing and finding', () => {
  it('[WIRE-FILES-01] [WIRE-FILES-02] [SBX-FILES-04] [SBX-FILES-05] [SBX-FILES-06] pages of one level, sorted, filtered', async () => {
    await run(
      'mkdir -p l/sub && cd l && touch b.txt a.txt .hidden c.md && ln -s sub link && ln -s nowhere broken',
    );
    const names = async (query: object) =>
      (
        (await must(service, 'ListFiles', { path: 'l', ...query })) as { files: { name: string }[] }
      ).files.map((f) => f.name);
    expect(await names({})).toEqual(['.hidden', 'a.txt', 'b.txt', 'broken', 'c.md', 'link', 'sub']);
    expect(await names({ pattern: '*.txt' })).toEqual(['a.txt', 'b.txt']);
    expect(await names({ offset: 2, max_items: 2 })).toEqual(['b.txt', 'broken']);
    const listed = await must(service, 'ListFiles', { path: 'l', pattern: 'link' });
    expect(listed).toMatchObject({ total_count: 1, has_more: false, files: [{ name: 'link', link: true }] });
    expect(await code('ListFiles', { path: 'l', max_items: 201 })).toBe('invalid_argument');
    expect(await code('ListFiles', { path: 'l/a.txt' })).toBe('invalid_argument');
    expect(await code('ListFiles', { path: 'missing' })).toBe('not_found');
  });

  it('[WIRE-FILES-03] [WIRE-FILES-04] [SBX-FILES-07] finds below, hidden too, and follows no link', async () => {
    await run('mkdir -p t/.git t/x/y && touch t/.git/k.txt t/x/y/k.txt t/k.txt && ln -s .. t/x/loop');
    const found = await must(service, 'FindFiles', { path: 't', pattern: 'k.*' });
    expect(found).toMatchObject({ paths: ['t/.git/k.txt', 't/k.txt', 't/x/y/k.txt'], total_count: 3 });
    expect(await must(service, 'FindFiles', { path: '/etc', pattern: 'hostname' })).toMatchObject({
      paths: ['/etc/hostname'],
    });
  });
});
