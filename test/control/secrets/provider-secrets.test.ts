/** Who may make a secret of an authorization, and of which provider. */
import { expect, it } from 'vitest';
import type { CodeHost } from '../../../src/control/ports/index.ts';
import { ProviderSecrets } from '../../../src/control/secrets/provider-secrets.ts';
import { SandhavenError } from '../../../src/model/errors.ts';
import type { Authorization } from '../../../src/model/provider.ts';
import { alice } from '../../store/fixtures.ts';
import { memorySecrets } from '../../store/memory/memory-secrets.ts';
import { gitHubAt, gitLabAt } from '../../support/code-host/hosts-at.ts';

const addresses: Record<string, string[]> = {
  'github.com': ['203.0.114.3'],
  'api.github.com': ['203.0.114.4', '2606:50c0::1'],
  'git.corp.example': ['10.20.30.40'],
  'mixed.example': ['203.0.114.3', '192.168.1.4'],
  'empty.example': [],
};
const asked = { name: 'github', targets: undefined, variable: undefined, expiresInMinutes: 0 };

interface Given {
  host?: CodeHost;
  secrets?: boolean;
  isAuthorized?: boolean;
}

function providerSecrets({ host = gitHubAt(), secrets = true, isAuthorized = true }: Given = {}) {
  return new ProviderSecrets({
    host,
    store: memorySecrets(),
    tokens: { current: async () => (isAuthorized ? ({} as Authorization) : null) },
    refusals: { notAuthorized: async () => new SandhavenError('authorization_required', 'Authorize first.') },
    runtime: { capabilities: { secrets } as never },
    resolve: async (name) => addresses[name] ?? Promise.reject(new Error('ENOTFOUND')),
    clock: { now: () => 1_000 },
  });
}

it('a secret stands for the authorization, at all of the provider', async () => {
  expect(await providerSecrets().create(alice, asked)).toMatchObject({
    ...{ ownerId: alice.id, name: 'github', variable: 'GITHUB_TOKEN', place: 'provider' },
    ...{ provider: 'https://github.com', expiresAt: null },
    targets: ['https://api.github.com', 'https://github.com'],
  });
});

it('a secret may be narrower, have another variable, and an end', async () => {
  const narrow = {
    ...{ name: 'reads', targets: ['get https://api.github.com/repos/acme/'], variable: 'GH_TOKEN' },
    expiresInMinutes: 5,
  };
  expect(await providerSecrets().create(alice, narrow)).toMatchObject({
    ...{ targets: ['GET https://api.github.com/repos/acme'], variable: 'GH_TOKEN', expiresAt: 301_000 },
  });
});

it.each([['https://evil.example'], ['https://*.github.com'], ['https://uploads.github.com']])(
  'the target %s is refused: it is not at the provider',
  async (target) => {
    const made = providerSecrets().create(alice, { ...asked, targets: [target] });
    await expect(made).rejects.toMatchObject({ code: 'invalid_argument', fields: { parameter: 'targets' } });
  },
);

it('a user without an authorization is asked for one', async () => {
  const made = providerSecrets({ isAuthorized: false }).create(alice, asked);
  await expect(made).rejects.toMatchObject({ code: 'authorization_required' });
});

it('who acts for a team has no authorization to lend it', async () => {
  const team = { id: 'team_1', name: 'core', role: 'member' as const };
  const made = providerSecrets().create({ ...alice, team }, asked);
  await expect(made).rejects.toMatchObject({
    ...{ code: 'failed_precondition', message: expect.stringContaining("you act for the team 'core'") },
  });
});

it.each([
  ['speaks no TLS', 'http://github.com', 'https://api.github.com', 'speaks no TLS'],
  ['has no name', 'https://203.0.114.3', 'https://203.0.114.3/api/v3', 'it has no name'],
  ['is at a private address', 'https://git.corp.example', 'https://git.corp.example/api/v3', 'not public'],
  ['has a private API', 'https://github.com', 'https://git.corp.example', 'not public'],
  ['has one private address', 'https://mixed.example', 'https://mixed.example/api/v3', 'not public'],
  ['has no address', 'https://empty.example', 'https://empty.example/api/v3', 'not public'],
])('a provider that %s is refused', async (_, url, apiUrl, why) => {
  const made = providerSecrets({ host: gitHubAt({ url, apiUrl }) }).create(alice, asked);
  await expect(made).rejects.toMatchObject({
    ...{ code: 'failed_precondition', message: expect.stringContaining(why) },
  });
});

it('a provider whose name nobody knows now is none that is refused for good', async () => {
  const host = gitHubAt({ url: 'https://unknown.example', apiUrl: 'https://unknown.example/api/v3' });
  await expect(providerSecrets({ host }).create(alice, asked)).rejects.toMatchObject({ code: 'unavailable' });
});

it('an engine without secrets has none of these', async () => {
  const made = providerSecrets({ secrets: false }).create(alice, asked);
  await expect(made).rejects.toMatchObject({ code: 'failed_precondition' });
});

it('the name and the variable are the provider’s own where none is given', async () => {
  const bare = { name: undefined, targets: undefined, variable: undefined, expiresInMinutes: 0 };
  expect(await providerSecrets().create(alice, bare)).toMatchObject({
    name: 'github',
    variable: 'GITHUB_TOKEN',
  });
  const another = providerSecrets({ host: gitLabAt('https://github.com') });
  expect(await another.create(alice, bare)).toMatchObject({
    ...{ name: 'gitlab', variable: 'GITLAB_TOKEN' },
    targets: ['https://github.com/api', 'https://github.com'],
  });
});
