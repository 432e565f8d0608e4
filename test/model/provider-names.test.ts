/** What the operator says of the provider, and which URLs name a repository there. */
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { parseUpOptions } from '../../src/app/options/up-options.ts';
import { repositoryOfPath } from '../../src/provider/github.ts';

const parse = (flags: string[], env: Record<string, string> = {}) => parseUpOptions(flags, env).provider;
const id = ['--github-client-id', 'Iv1.1'];
const secret = { SANDHAVEN_GITHUB_CLIENT_SECRET: 'canary-secret' };

describe('the provider', () => {
  it('is the public one unless another is named, whose API is below it', () => {
    expect(parse([])).toBeNull();
    expect(parse(id, secret)).toEqual({
      name: 'github',
      url: 'https://github.com',
      apiUrl: 'https://api.github.com',
      clientId: 'Iv1.1',
      clientSecret: { value: 'canary-secret' },
      app: null,
    });
    const own = ['--github-url', 'https://git.example.org/', '--github-client-secret-file', '/run/secret'];
    expect(parse([...id, ...own])).toMatchObject({
      url: 'https://git.example.org',
      apiUrl: 'https://git.example.org/api/v3',
      clientSecret: { file: '/run/secret' },
    });
    expect(parse([...id, '--github-api-url', 'http://127.0.0.1:9/x/'], secret)).toMatchObject({
      apiUrl: 'http://127.0.0.1:9/x',
    });
  });

  it('has an app when all three of its parts are given', () => {
    const parts = [
      ['--github-app-id', '7'],
      ['--github-app-slug', 'sandhaven'],
      ['--github-app-private-key-file', '/run/key.pem'],
    ];
    expect(parse([...id, ...parts.flat()], secret)?.app).toEqual({
      id: '7',
      slug: 'sandhaven',
      privateKeyFile: '/run/key.pem',
    });
    for (const missing of parts) {
      const given = parts.filter((part) => part !== missing).flat();
      expect(() => parse([...id, ...given], secret)).toThrow(`${missing[0]} is missing`);
    }
  });

  it('is not half described, and its secret is no flag', () => {
    expect(() => parse([], secret)).toThrow('--github-client-id is missing');
    expect(() => parse(id)).toThrow('--github-client-secret-file is missing');
    expect(() => parse([...id, '--github-client-secret', 'x'])).toThrow();
    for (const url of ['github.com', 'ftp://h/', 'https://u:p@h', 'https://h/path', 'https://h?x']) {
      expect(() => parse([...id, '--github-url', url], secret), url).toThrow('--github-url must be a URL');
    }
  });
});

describe('a repository at the provider', () => {
  it('is two parts of a path, with or without .git; a wiki is its repository’s', () => {
    const ada = { owner: 'ada', name: 'tool.js' };
    for (const path of ['/ada/tool.js', '/ada/tool.js.git', '//ada/tool.js.git/', '/ada/tool.js.wiki.git']) {
      expect(repositoryOfPath(path), path).toEqual(ada);
    }
  });

  it('is never a path that leads elsewhere in the API, whatever is asked', () => {
    for (const path of ['/a', '/a/b/c', '/../b', '/a/..', '/a/%2e%2e', '/a/b?c', '/./.git']) {
      expect(repositoryOfPath(path), path).toBeNull();
    }
    fc.assert(
      fc.property(fc.stringMatching(/^[a.%2e/_~-]{1,9}(\.git|\.wiki)?$/), (text) => {
        const found = repositoryOfPath(`/${text}`);
        if (!found) return;
        const { pathname } = new URL(`https://api.example/repos/${found.owner}/${found.name}/installation`);
        expect(pathname).toBe(`/repos/${found.owner}/${found.name}/installation`);
      }),
      { numRuns: 2_000 },
    );
  });
});
