/** Names of branches and addresses of remotes: what is taken, and what never is. */
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { branchNameFault, revisionFault } from '../../../src/model/git/ref.ts';
import { parseGitUrl } from '../../../src/model/git/url.ts';

const REF_BYTES = 244;

describe('the name of a branch', () => {
  it.each(['-x', '--force', '-', '', 'HEAD', '@', 'a b', 'a\nb', 'a\0b', 'x'.repeat(300)])(
    'is not %j',
    (name) => {
      expect(branchNameFault(name)).toEqual(expect.any(String));
    },
  );

  it.each([
    ['a..b', '".." or "@{"'],
    ['a@{b', '".." or "@{"'],
    ['a.', 'end with "."'],
    ['/a', 'begin or end with "/"'],
    ['a/', 'begin or end with "/"'],
    ['a//b', '"//"'],
    ['.a', 'part that begins with "."'],
    ['a/.b', 'part that begins with "."'],
    ['a.lock', 'ends with ".lock"'],
    ['a.lock/b', 'ends with ".lock"'],
    ...[...'~^:?*[\\\u001f\u007f'].map((character): [string, string] => [`a${character}b`, 'any of ~']),
    ['-', 'begin with "-"'],
    ['@', 'not a branch name'],
  ])('is not %j, and the fault names the reason: %s', (name, fault) => {
    expect(branchNameFault(name)).toContain(fault);
  });

  it.each(['main', 'a/b.c', 'a@b', '@a', 'HEADs', 'a-', 'lock', 'a.locks', 'a.b/c', 'é', 'a{b', 'a!'])(
    'may be %j',
    (name) => {
      expect(branchNameFault(name)).toBeNull();
    },
  );

  it('is bounded in bytes', () => {
    expect(branchNameFault('x'.repeat(REF_BYTES))).toBeNull();
    expect(branchNameFault('é'.repeat(REF_BYTES))).toContain('bytes');
    expect(revisionFault('x'.repeat(REF_BYTES))).toBeNull();
    expect(revisionFault('x'.repeat(REF_BYTES + 1))).toContain('bytes');
  });
});

describe('the name of a commit', () => {
  it.each(['main', 'v1.0', 'HEAD~2', 'origin/main', 'abc123', 'main@{upstream}', 'HEAD^{commit}', 'HEAD^2'])(
    'may be %s',
    (revision) => {
      expect(revisionFault(revision)).toBeNull();
    },
  );

  it.each(['-x', '--output=/etc/passwd', 'a..b', 'a...b', 'HEAD:file', ':/text', 'a b', 'a\nb', ''])(
    'is never %j',
    (revision) => {
      expect(revisionFault(revision)).toEqual(expect.any(String));
    },
  );

  it('has a fault of its own for each rule', () => {
    expect(revisionFault('-x')).toContain('begin with "-"');
    expect(revisionFault('')).toContain('empty');
    expect(revisionFault('a\u007f')).toContain('one commit');
  });
});

describe('[WIRE-GIT-13] the address of a remote', () => {
  it.each([
    ['https://Example.org/Team/Project.git', 'https://example.org/Team/Project', 'Project'],
    ['https://example.org:443/a/b/', 'https://example.org/a/b', 'b'],
    ['http://example.org:8080/a', 'http://example.org:8080/a', 'a'],
    ['https://ada@example.org/a/b.git', 'https://example.org/a/b', 'b'],
    ['https://example.org/a/../b', 'https://example.org/b', 'b'],
    ['http://[::1]:3000/a.git', 'http://[::1]:3000/a', 'a'],
    ['http://0x7f.1/a', 'http://127.0.0.1/a', 'a'],
    ['https://example.org/a%20b.git', 'https://example.org/a%20b', 'a b'],
    ['ssh://git@example.org:22/a/b.git', 'ssh://example.org:22/a/b', 'b'],
    ['git://example.org/a', 'git://example.org/a', 'a'],
    ['git@example.org:team/project.git', 'ssh://example.org/team/project', 'project'],
  ])('%s is the repository %s', (text, key, name) => {
    expect(parseGitUrl(text)).toMatchObject({ text, key, name });
  });

  it.each([
    '/etc',
    './repo',
    '../repo',
    'repo',
    'file:///etc',
    'FILE:///etc',
    'file:/etc',
    'ext::sh -c id',
    'ext::sh',
    'fd::17',
    'https::example.org',
    'hg::https://example.org/a',
    'ftp://example.org/a',
    'HTTPS://example.org/a',
    'git+ssh://example.org/a',
    'rsync://example.org/a',
    '-uhttps://example.org/a',
    '--upload-pack=id',
    'ssh://-oProxyCommand=id/a',
    'ssh://-oProxyCommand=id@host/a',
    '-oProxyCommand=id@host:a',
    'git@-oProxyCommand=id:a',
    'git@host:-a',
    'https://ada:secret@example.org/a',
    'https://:secret@example.org/a',
    'https://example.org/a\nhttps://other.org/b',
    'https://example.org/a b',
    'https://example.org\\@other.org/a',
    'https://example.org/a?x=1',
    'https://example.org/a#x',
    'https:///a',
    'https://example.org',
    'https://example.org/',
    'https://example.org:99999/a',
    'https://exa$(id)mple.org/a',
    'host:path',
    '\u0000',
    `https://example.org/${'a'.repeat(3_000)}`,
  ])('is never %j', (text) => {
    expect(() => parseGitUrl(text)).toThrow(expect.objectContaining({ code: 'invalid_argument' }));
  });

  it.each([
    ['-uhttps://example.org/a', 'begin with "-"'],
    ['ext::sh', 'transport helper'],
    ['https::example.org', 'transport helper'],
    ['git@host:a::b', 'transport helper'],
    ['x https://[::1]/a', 'spaces'],
    ['xhttps://[::1]/a', 'transport helper'],
    ['ftp://example.org/a', 'over http, https, ssh or git'],
    ['FTP://git@example.org:a', 'over http, https, ssh or git'],
    ['git+ssh://git@example.org:a', 'over http, https, ssh or git'],
    ['repo', 'over http, https, ssh or git'],
    ['git@host:-a', 'is not understood'],
    ['-git@host:a', 'begin with "-"'],
    ['g;t@host:a', 'is not understood'],
    ['https://example.org:99999/a', 'is not understood'],
    ['https://a%ff@example.org/a', 'name a host'],
    ['https://a;b@example.org/a', 'name a host'],
    ['https://example.org//', 'a repository on the host'],
    ['https://example.org/.git', 'a repository on the host'],
    ['https://example.org/a?x', 'neither a query nor a fragment'],
  ])('refuses %s by a rule of its own: %s', (text, rule) => {
    expect(() => parseGitUrl(text)).toThrow(
      expect.objectContaining({
        message: expect.stringMatching(/^url .+\.$/),
        fields: expect.objectContaining({ parameter: 'url' }),
      }),
    );
    expect(() => parseGitUrl(text)).toThrow(rule);
  });

  it.each([
    ['https://example.org/a', { scheme: 'https', user: null, port: null }],
    ['https://ada@example.org:8443/a', { scheme: 'https', user: 'ada', port: 8_443 }],
    ['ssh://git@[::1]:22/a', { scheme: 'ssh', user: 'git', port: 22, host: '[::1]' }],
    ['me+you@Example.org:a', { scheme: 'ssh', user: 'me+you', port: null, host: 'example.org', path: 'a' }],
  ])('%s has the parts %j', (text, parts) => {
    expect(parseGitUrl(text)).toMatchObject(parts);
  });

  it.each([
    ['https://example.org//a//', 'https://example.org/a', 'a'],
    ['https://example.org/a.github.git', 'https://example.org/a.github', 'a.github'],
    ['https://example.org/a/%2e%2e%2f..', 'https://example.org/a/%2e%2e%2f..', '....'],
    ['git@example.org:a/..', 'ssh://example.org/a/..', ''],
    ['git@example.org:a/-b', 'ssh://example.org/a/-b', ''],
    ['git@example.org:a/b-', 'ssh://example.org/a/b-', 'b-'],
    ['git@example.org:%ff', 'ssh://example.org/%ff', ''],
    ['git@example.org:a%0ab', 'ssh://example.org/a%0ab', 'ab'],
  ])('%s is the repository %s, in the folder %j', (text, key, name) => {
    expect(parseGitUrl(text)).toMatchObject({ key, name });
  });

  it('is bounded in characters', () => {
    const ofLength = (length: number) => `https://h/${'a'.repeat(length - 10)}`;
    expect(parseGitUrl(ofLength(2_048)).text).toHaveLength(2_048);
    expect(() => parseGitUrl(ofLength(2_049))).toThrow('url must be at most 2048 characters.');
  });

  it('never has its password repeated', () => {
    try {
      parseGitUrl('https://ada:hunter2@example.org/a');
      expect.unreachable();
    } catch (error) {
      expect(JSON.stringify(error) + String(error)).not.toContain('hunter2');
      expect(error).toMatchObject({ fields: { hint: expect.stringContaining('username and password') } });
    }
  });

  it('gives a name that is one safe part of a path, or is refused', () => {
    const part = fc.string({
      unit: fc.constantFrom(...'a/.%2fF-:@\\"$ 0', '..', '%2e', '%00'),
      maxLength: 12,
    });
    fc.assert(
      fc.property(fc.constantFrom('https://h/', 'ssh://h/', 'git@h:', 'git://h/'), part, (start, rest) => {
        let name: string;
        try {
          name = parseGitUrl(start + rest).name;
        } catch (error) {
          expect(error).toMatchObject({ code: 'invalid_argument' });
          return;
        }
        expect(name).not.toMatch(/[/\0]|^-|^\.\.?$/);
      }),
      { numRuns: 500 },
    );
  });

  it('has one key for all spellings, and keys apart for different repositories', () => {
    const key = (text: string) => parseGitUrl(text).key;
    const same = [
      'https://h/a/b',
      'https://h/a/b/',
      'https://H/a/b.git',
      'https://h:443/a/b.git/',
      'https://u@h/a/b',
    ];
    expect(new Set(same.map(key)).size).toBe(1);
    const others = [
      'http://h/a/b',
      'https://h:8443/a/b',
      'https://h/a/B',
      'https://h/a',
      'https://h.org/a/b',
    ];
    expect(new Set([...others, ...same].map(key)).size).toBe(others.length + 1);
  });
});
