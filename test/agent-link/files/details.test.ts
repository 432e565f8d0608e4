/** All that is known of files, read and set by a real agent. */
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { AsUser } from '../../../src/control/ports/index.ts';
import { type ScratchSandbox, startScratchSandbox } from '../scratch-sandbox.ts';

let sandbox: ScratchSandbox;
beforeAll(async () => {
  sandbox = await startScratchSandbox();
});
afterAll(() => sandbox[Symbol.asyncDispose]());

const sh = async (command: string) => (await sandbox.sh(command)).output;
const details = (path: string, depth: number, page: { maxItems?: number; offset?: number } & AsUser = {}) =>
  sandbox.agent.details(sandbox.id, { path, depth, maxItems: 100, offset: 0, ...page });
const set = (attributes: Parameters<ScratchSandbox['agent']['setAttributes']>[1]) =>
  sandbox.agent.setAttributes(sandbox.id, attributes);

describe('details', () => {
  beforeAll(async () => {
    await sh(
      'mkdir -p tree/a/b/c tree/d && echo 12345 > tree/a/file && ln -s ../none tree/link && mkfifo tree/pipe && ' +
        'useradd -u 4242 ann && chown ann:staff tree/a/file && chmod 4750 tree/a/file && ' +
        'touch -d @1700000000.25 tree/a/file && echo x > tree/a/b/c/deep',
    );
  });

  it('of a file are type, size, mode, owners by name and number, and time', async () => {
    expect(await details('tree/a/file', 0)).toEqual({
      items: [
        {
          ...{ path: '', type: 'file', size: 6, mode: 0o4750, uid: 4242, gid: 50 },
          ...{ owner: 'ann', group: 'staff', modifiedMs: 1_700_000_000_250 },
        },
      ],
      ...{ totalCount: 1, nextOffset: null },
    });
  });

  it('of a link are its own, and its target', async () => {
    const { items } = await details('tree/link', 0);
    expect(items).toMatchObject([{ path: '', type: 'symlink', target: '../none', mode: 0o777 }]);
  });

  it('go as deep as asked for, sorted by path', async () => {
    const paths = async (depth: number) => (await details('tree', depth)).items.map(({ path }) => path);
    expect(await paths(1)).toEqual(['a', 'd', 'link', 'pipe']);
    expect(await paths(2)).toEqual(['a', 'a/b', 'a/file', 'd', 'link', 'pipe']);
    expect(await paths(64)).toEqual(['a', 'a/b', 'a/b/c', 'a/b/c/deep', 'a/file', 'd', 'link', 'pipe']);
    const { items } = await details('tree', 1);
    expect(items.map(({ type }) => type)).toEqual(['dir', 'dir', 'symlink', 'other']);
  });

  it('come in pages', async () => {
    const page = await details('tree', 64, { maxItems: 2, offset: 3 });
    expect(page).toMatchObject({ items: [{ path: 'a/b/c/deep' }, { path: 'a/file' }], totalCount: 8 });
    expect(page.nextOffset).toBe(5);
    const beyond = await details('tree', 64, { offset: 8 });
    expect(beyond).toEqual({ items: [], totalCount: 8, nextOffset: null });
  });

  it('end a page early where the sandbox has chosen long texts', async () => {
    const script = `
import os
os.mkdir('noted')
for at in range(1000):
    path = f'noted/{at:04}'
    open(path, 'w').close()
    os.setxattr(path, 'user.note', b'x' * 3000)`;
    await sh(`python3 -c "${script}"`);
    const [all, sizes] = [[] as string[], [] as number[]];
    for (let offset: number | null = 0; offset !== null; ) {
      const page = await details('noted', 1, { maxItems: 10_000, offset });
      all.push(...page.items.map(({ path }) => path));
      sizes.push(page.items.length);
      offset = page.nextOffset;
    }
    expect(sizes).toEqual([698, 302]);
    expect(all).toEqual(Array.from({ length: 1_000 }, (_, at) => String(at).padStart(4, '0')));
  });

  it('of 10,000 entries fit one page', async () => {
    await sh('mkdir many && cd many && seq -f %05g 10000 | xargs touch');
    const { items, totalCount } = await details('many', 1, { maxItems: 10_000 });
    expect({ count: items.length, first: items[0]?.path, last: items.at(-1)?.path, totalCount }).toEqual({
      ...{ count: 10_000, first: '00001', last: '10000', totalCount: 10_000 },
    });
  });

  it.each([
    ['nowhere', 0],
    ['nowhere', 1],
  ])('of %s with depth %d are not found', async (path, depth) => {
    await expect(details(path, depth)).rejects.toMatchObject({ code: 'not_found' });
  });

  it('below a file are refused', async () => {
    await expect(details('tree/a/file', 1)).rejects.toMatchObject({
      code: 'invalid_argument',
      fields: { parameter: 'path' },
    });
  });

  it('leave out what the user may not see', async () => {
    await sh('mkdir -p half/open half/closed/in && chmod 700 half/closed && touch half/open/f');
    const { items } = await details('/workspace/half', 3, { user: 'ann' });
    expect(items.map(({ path }) => path)).toEqual(['closed', 'open', 'open/f']);
  });
});

describe('attributes', () => {
  it('are mode and owners, by name or number', async () => {
    await sh('touch own');
    await set({ path: 'own', owner: 'ann', group: '27', mode: 0o2640 });
    expect(await sh('stat -c "%U %G %a" own')).toBe('ann sudo 2640\n');
    await set({ path: 'own', owner: '0' });
    expect(await sh('stat -c "%U %G" own')).toBe('root sudo\n');
  });

  it('are those of the file that a link leads to', async () => {
    await sh('touch led && ln -s led leading');
    await set({ path: 'leading', mode: 0o600, owner: 'ann' });
    expect(await sh('stat -c "%U %a" led; stat -c %U leading')).toBe('ann 600\nroot\n');
  });

  it.each([
    ['owner', 'nobody-here'],
    ['group', 'no-group'],
  ])('are refused for an unknown %s, and nothing changes', async (parameter, name) => {
    await sh('touch kept && chmod 640 kept');
    await expect(set({ path: 'kept', mode: 0o777, [parameter]: name })).rejects.toMatchObject({
      code: 'invalid_argument',
      fields: { parameter },
    });
    expect(await sh('stat -c "%U %G %a" kept')).toBe('root root 640\n');
  });

  it('of root are not for users to change', async () => {
    await sh('touch /srv/root-file');
    const refused = { code: 'permission_denied' };
    await expect(set({ user: 'ann', path: '/srv/root-file', mode: 0o777 })).rejects.toMatchObject(refused);
    await expect(set({ user: 'ann', path: '/srv/root-file', owner: 'ann' })).rejects.toMatchObject(refused);
  });

  it('of the agent are not for root to change', async () => {
    await expect(set({ path: '/proc/1/environ', mode: 0o777 })).rejects.toMatchObject({
      code: 'permission_denied',
    });
  });
});

describe('metadata', () => {
  const of = async (path: string) => (await details(path, 0)).items[0]?.metadata;

  it('replaces what the file had', async () => {
    await sh('touch marked');
    await set({ path: 'marked', metadata: { a: '1', origin: 'é€' } });
    expect(await of('marked')).toEqual({ a: '1', origin: 'é€' });
    await set({ path: 'marked', metadata: { b: '' } });
    expect(await of('marked')).toEqual({ b: '' });
    await set({ path: 'marked', metadata: {} });
    expect(await of('marked')).toBeUndefined();
  });

  it('comes with a file that is written', async () => {
    const write = (metadata?: Record<string, string>) =>
      sandbox.agent.write(sandbox.id, {
        ...{ path: 'written', content: Buffer.from('x'), createParents: false },
        ...(metadata ? { metadata } : {}),
      });
    await write({ kind: 'first' });
    expect(await of('written')).toEqual({ kind: 'first' });
    await write({ other: 'second' });
    expect(await of('written')).toEqual({ other: 'second' });
  });

  it.each([
    ['too many', Object.fromEntries(Array.from({ length: 65 }, (_, index) => [`n${index}`, '']))],
    ['too large', { a: 'x'.repeat(8_192) }],
    ['of a name too long', { ['n'.repeat(251)]: '' }],
    ['of no name', { '': 'x' }],
  ])('that is %s is refused', async (_, metadata) => {
    await sh('touch bounds');
    await expect(set({ path: 'bounds', metadata })).rejects.toMatchObject({
      code: 'invalid_argument',
      fields: { parameter: 'metadata' },
    });
    expect(await of('bounds')).toBeUndefined();
  });
});
