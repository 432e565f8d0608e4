/** Secrets of the code-hosting provider: the requests that carry them, and how. */
import { describe, expect, it } from 'vitest';
import {
  providerTargets,
  providerUses,
  targetElsewhere,
} from '../../../src/model/secrets/provider-secret.ts';
import type { Secret } from '../../../src/model/secrets/secret.ts';
import { gitHubAt, gitLabAt } from '../../support/code-host/hosts-at.ts';

const github = gitHubAt();
/** A provider's own server. */
const own = gitHubAt({ url: 'https://git.example.com', apiUrl: 'https://git.example.com/api/v3' });

const secretFor = (targets: string[], expiresAt: number | null = null): Secret => ({
  ...{ id: 'se_1', ownerId: 'user_1', name: 'github', variable: 'GITHUB_TOKEN', place: 'provider' },
  ...{ targets, provider: github.url, createdAt: 1, updatedAt: 1, rotatedAt: 1, expiresAt, lastUsedAt: null },
});
const token = { value: 'the token', expiresAt: null };
const bearer = { in: 'header', name: 'authorization', format: 'Bearer {secret}' };
const basic = { in: 'basic', username: 'x-access-token' };

describe('the targets of a provider', () => {
  it('are its API and its Git host', () => {
    expect(providerTargets(github)).toEqual(['https://api.github.com', 'https://github.com']);
    expect(providerTargets(own)).toEqual(['https://git.example.com/api', 'https://git.example.com']);
    const port = gitHubAt({
      url: 'https://git.example.com:8443',
      apiUrl: 'https://git.example.com:8443/api/v3',
    });
    expect(providerTargets(port)).toEqual([
      'https://git.example.com:8443/api',
      'https://git.example.com:8443',
    ]);
  });

  it.each([
    ['without TLS', 'http://git.example.com', 'http://git.example.com/api/v3'],
    ['whose API has no TLS', 'https://git.example.com', 'http://api.example.com'],
    ['at an address', 'https://203.0.113.7', 'https://203.0.113.7/api/v3'],
    ['at a name of one word', 'https://git', 'https://git/api/v3'],
  ])('are none for one %s', (_, url, apiUrl) => {
    expect(providerTargets(gitHubAt({ url, apiUrl }))).toBeNull();
    expect(targetElsewhere([url.replace('http:', 'https:')], gitHubAt({ url, apiUrl }))).not.toBeNull();
  });

  it.each([
    ['https://api.github.com', null],
    ['GET https://api.github.com/repos/acme', null],
    ['https://github.com/acme/rocket.git', null],
    ['https://uploads.github.com', 'https://uploads.github.com'],
    ['https://*.github.com', 'https://*.github.com'],
    ['https://api.github.com:8443', 'https://api.github.com:8443'],
    ['https://github.com.evil.example', 'https://github.com.evil.example'],
  ])('take %s: %s lies elsewhere', (target, elsewhere) => {
    expect(targetElsewhere([target], github)).toBe(elsewhere);
  });

  it('are those below the path of an API that shares its host with others', () => {
    const shared = gitHubAt({ url: 'https://git.example.com', apiUrl: 'https://proxy.example.com/git/v3' });
    expect(targetElsewhere(['https://proxy.example.com/git/v3/user'], shared)).toBeNull();
    for (const target of ['https://proxy.example.com', 'https://proxy.example.com/git/v30']) {
      expect(targetElsewhere([target], shared)).toBe(target);
    }
  });
});

describe('requests carry the token', () => {
  const uses = (targets: string[], at = github) =>
    providerUses(secretFor(targets), token, 'the placeholder', at).map(({ targets, place }) => [
      targets.map(({ host, path }) => `${host}${path ?? ''}`),
      place,
    ]);

  it('as a bearer to the API, and with basic authentication to both', () => {
    expect(uses(['https://api.github.com', 'https://github.com'])).toEqual([
      [['api.github.com'], bearer],
      [['api.github.com', 'github.com'], basic],
    ]);
    expect(uses(['https://git.example.com/api', 'https://git.example.com'], own)).toEqual([
      [['git.example.com/api'], bearer],
      [['git.example.com/api', 'git.example.com'], basic],
    ]);
  });

  it('as GitLab’s clients write them', () => {
    const gitlab = gitLabAt('https://lab.example.com');
    expect(uses(['https://lab.example.com/api', 'https://lab.example.com/a/b.git'], gitlab)).toEqual([
      [['lab.example.com/api'], bearer],
      [['lab.example.com/api', 'lab.example.com/a/b.git'], { in: 'basic', username: 'oauth2' }],
    ]);
  });

  it('within narrower targets, as they are', () => {
    expect(uses(['https://github.com/acme/rocket.git'])).toEqual([[['github.com/acme/rocket.git'], basic]]);
    expect(uses(['GET https://api.github.com/repos/acme'])).toEqual([
      [['api.github.com/repos/acme'], bearer],
      [['api.github.com/repos/acme'], basic],
    ]);
  });

  it('to no host that is not the provider’s any more', () => {
    expect(uses(['https://old.example.com', 'https://github.com'])).toEqual([[['github.com'], basic]]);
    expect(uses(['https://old.example.com'])).toEqual([]);
    expect(
      uses(['https://github.com'], gitHubAt({ url: 'http://github.com', apiUrl: 'http://github.com' })),
    ).toEqual([]);
  });

  it('until the secret ends or the token, whichever is first', () => {
    const endOf = (secretAt: number | null, tokenAt: number | null) =>
      providerUses(
        secretFor(['https://github.com'], secretAt),
        { ...token, expiresAt: tokenAt },
        'the placeholder',
        github,
      )[0]?.expiresAt;
    expect([endOf(null, null), endOf(5, null), endOf(null, 6), endOf(5, 6), endOf(6, 5)]).toEqual([
      null,
      5,
      6,
      5,
      5,
    ]);
  });
});
