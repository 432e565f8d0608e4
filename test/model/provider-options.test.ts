/** Flags of the code-hosting provider: what belongs together, and which URLs are taken. */
import { describe, expect, it } from 'vitest';
import { oneProvider, type ProviderTexts, parseProviderOptions } from '../../src/model/provider.ts';

const none: ProviderTexts = {
  ...{ url: 'https://github.com', apiUrl: '', clientId: '', clientSecretFile: '' },
  ...{ appId: '', appSlug: '', appPrivateKeyFile: '' },
};
const known = { ...none, clientId: 'id' };
const app = { appId: '1', appSlug: 'bot', appPrivateKeyFile: '/key' };

function parameterOf(texts: ProviderTexts, secret: string | null): unknown {
  try {
    parseProviderOptions('github', texts, secret);
  } catch (error) {
    return (error as { fields: { parameter: string } }).fields.parameter;
  }
  return null;
}

describe('the flags', () => {
  it('give no provider where none is set', () => {
    expect(parseProviderOptions('github', none, null)).toBeNull();
  });

  it('take the secret from the environment, or from a file', () => {
    expect(parseProviderOptions('github', known, 'secret')).toEqual({
      name: 'github',
      ...{ url: 'https://github.com', apiUrl: 'https://api.github.com', clientId: 'id', app: null },
      clientSecret: { value: 'secret' },
    });
    const filed = { ...known, clientSecretFile: '/secret' };
    expect(parseProviderOptions('github', filed, null)?.clientSecret).toEqual({ file: '/secret' });
  });

  it('describe an app by all three of its flags', () => {
    expect(parseProviderOptions('github', { ...known, ...app }, 'secret')?.app).toEqual({
      ...{ id: '1', slug: 'bot', privateKeyFile: '/key' },
    });
  });

  it.each([
    ['a secret', none, 's', '--github-client-id'],
    ['the file of a secret', { ...none, clientSecretFile: '/s' }, null, '--github-client-id'],
    ['an app', { ...none, ...app }, null, '--github-client-id'],
    ['a client id', known, null, '--github-client-secret-file'],
    ["an app's id", { ...known, appId: '1' }, 's', '--github-app-slug'],
    ["an app's slug", { ...known, appSlug: 'bot' }, 's', '--github-app-id'],
    ["an app's key", { ...known, appPrivateKeyFile: '/k' }, 's', '--github-app-id'],
    [
      'an app without its key',
      { ...known, ...app, appPrivateKeyFile: '' },
      's',
      '--github-app-private-key-file',
    ],
  ])('refuse %s alone', (_, texts, secret, missing) => {
    expect(parameterOf(texts, secret)).toBe(missing);
  });
});

describe('the URL of a server of its own', () => {
  it('has its API beneath it, unless that is given', () => {
    const own = { ...known, url: 'https://git.example/' };
    expect(parseProviderOptions('github', own, 's')).toMatchObject({
      ...{ url: 'https://git.example', apiUrl: 'https://git.example/api/v3' },
    });
    const other = { ...own, apiUrl: 'http://api.example/v3//' };
    expect(parseProviderOptions('github', other, 's')?.apiUrl).toBe('http://api.example/v3');
  });

  it.each([
    'ftp://git.example',
    'httpx://git.example',
    'https://ada@git.example',
    'https://:secret@git.example',
    'https://git.example/path',
    'https://git.example/?a',
    'https://git.example/#a',
    'git.example',
  ])('is not %s', (url) => {
    expect(parameterOf({ ...known, url }, 's')).toBe('--github-url');
  });

  it('may have a path only for the API', () => {
    expect(parameterOf({ ...known, apiUrl: 'https://api.example/#a' }, 's')).toBe('--github-api-url');
  });
});

describe('another provider', () => {
  it('has its own public server, its own path of the API, and its own flags', () => {
    const texts = { ...known, url: 'https://gitlab.com' };
    expect(parseProviderOptions('gitlab', texts, 's')).toMatchObject({
      ...{ name: 'gitlab', url: 'https://gitlab.com', apiUrl: 'https://gitlab.com/api/v4' },
    });
    expect(() => parseProviderOptions('gitlab', texts, null)).toThrow(
      /--gitlab-client-secret-file is missing/,
    );
  });

  it('is not beside the first', () => {
    const both = (['github', 'gitlab'] as const).map((name) => parseProviderOptions(name, known, 's'));
    expect(() => oneProvider(both)).toThrow(/--gitlab-client-id is one too many/);
    expect(oneProvider([null, ...both.slice(1)])?.name).toBe('gitlab');
    expect(oneProvider([null, null])).toBeNull();
  });
});
