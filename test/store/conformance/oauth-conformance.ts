/** What every store does with OAuth clients, grants, and what is issued under them. */
import { describe, expect, it, onTestFinished } from 'vitest';
import type { Artifact, Store } from '../../../src/control/ports/index.ts';
import type { Grant, OAuthClient } from '../../../src/model/access/oauth.ts';
import { limits } from '../../../src/model/limits.ts';
import { alice, bob } from '../fixtures.ts';

const NOW = 1_000_000;
const everything = { page: 1, pageSize: 100 };
const DAY_MS = 86_400_000;

function client(id: string, more: Partial<OAuthClient> = {}): OAuthClient {
  const uris = { redirectUris: ['http://127.0.0.1/callback', 'https://app.example/"'] };
  return {
    id,
    name: 'An "app"',
    ...uris,
    network: '192.0.2',
    createdAt: NOW,
    expiresAt: NOW + 1_000,
    ...more,
  };
}

function grant(id: string, more: Partial<Grant> = {}): Grant {
  return {
    ...{ id, userId: alice.id, clientId: 'client_1', clientName: null, redirectHost: 'app.example:8443' },
    ...{ resource: 'https://here.example/mcp', scopes: ['sandboxes:read', 'account'] },
    ...{ createdAt: NOW, lastUsedAt: NOW, expiresAt: NOW + 1_000 },
    ...more,
  };
}

function artifact(fill: number, more: Partial<Artifact> = {}): Artifact {
  return {
    ...{
      kind: 'refresh',
      hash: Buffer.alloc(32, fill),
      grantId: 'grant_1',
      network: null,
      payload: '{"a":"é"}',
    },
    ...{ createdAt: NOW, expiresAt: NOW + 500, consumedAt: null },
    ...more,
  };
}

/** Lowers a bound until the test has finished, since filling it takes long. */
function lowered(bound: 'clientsTotal' | 'requestsTotal', real: number, low: number): void {
  const bounds = limits.oauth as Record<typeof bound, number>;
  expect(bounds[bound]).toBe(real);
  onTestFinished(() => void Object.assign(bounds, { [bound]: real }));
  bounds[bound] = low;
}

export function oauthConformance(name: string, store: () => Store): void {
  const oauth = () => store().oauth;

  describe(`${name}: OAuth clients`, () => {
    it('are found as they were registered, until they are over', async () => {
      await oauth().addClient(client('client_1'));
      expect(await oauth().findClient('client_1', NOW + 999)).toEqual(client('client_1'));
      expect(await oauth().findClient('client_1', NOW + 1_000)).toBeNull();
      expect(await oauth().findClient('client_2', NOW)).toBeNull();
    });

    it('give way within their own network, the oldest first, and never with a grant', async () => {
      await oauth().addClient(client('client_other', { network: '198.51.100' }));
      await oauth().addClient(client('client_1'));
      await oauth().addGrant(grant('grant_1'));
      for (let at = 1; at <= 51; at++)
        await oauth().addClient(client(`client_x${at}`, { createdAt: NOW + at }));
      const found = async (id: string) => (await oauth().findClient(id, NOW)) !== null;
      expect(await found('client_x1')).toBe(false);
      for (const id of ['client_other', 'client_1', 'client_x2', 'client_x51'])
        expect(await found(id)).toBe(true);
    });

    it('[LIMIT] are 10,000 without a grant; beyond, the oldest of the network with most gives way', async () => {
      lowered('clientsTotal', 10_000, 3);
      const add = (id: string, network: string, at: number) =>
        oauth().addClient(client(id, { network, createdAt: NOW + at }));
      for (const at of [1, 2]) {
        await add(`client_used${at}`, 'loud', at);
        await oauth().addGrant(grant(`grant_${at}`, { clientId: `client_used${at}` }));
      }
      const found = async () => {
        const ids = ['used1', 'used2', 'quiet', 'loud1', 'loud2', 'late'];
        const clients = await Promise.all(ids.map((id) => oauth().findClient(`client_${id}`, NOW)));
        return ids.filter((_, at) => clients[at] !== null);
      };
      await add('client_quiet', 'quiet', 3);
      await add('client_loud1', 'loud', 4);
      await add('client_loud2', 'loud', 5);
      expect(await found()).toEqual(['used1', 'used2', 'quiet', 'loud1', 'loud2']);
      await add('client_late', 'late', 6);
      expect(await found()).toEqual(['used1', 'used2', 'quiet', 'loud2', 'late']);
    });

    it('are kept for 60 days after their last grant', async () => {
      await oauth().addClient(client('client_1'));
      await oauth().addGrant(grant('grant_1'));
      await oauth().extendGrant('grant_1', NOW + 2_000);
      const found = await oauth().findClient('client_1', NOW);
      expect(found?.expiresAt).toBe(NOW + 2_000 + 60 * DAY_MS);
    });
  });

  describe(`${name}: OAuth grants`, () => {
    it('are found with their user, until they are over', async () => {
      expect(await oauth().addGrant(grant('grant_1'))).toEqual([]);
      const { id, name: called, email, role } = alice;
      expect(await oauth().findGrant('grant_1', NOW + 999)).toEqual({
        grant: grant('grant_1'),
        user: { id, name: called, email, role },
      });
      expect(await oauth().findGrant('grant_1', NOW + 1_000)).toBeNull();
      await oauth().extendGrant('grant_1', NOW + 5_000);
      await oauth().extendGrant('grant_1', NOW + 4_000);
      expect((await oauth().findGrant('grant_1', NOW + 4_999))?.grant.expiresAt).toBe(NOW + 5_000);
    });

    it('are not found once their user is disabled', async () => {
      await oauth().addGrant(grant('grant_1', { userId: bob.id }));
      await store().users.updateUser(bob.id, () => ({ disabledAt: NOW }));
      expect(await oauth().findGrant('grant_1', NOW)).toBeNull();
    });

    it('are listed by their last use, of one user or of all, while they hold', async () => {
      await oauth().addGrant(grant('grant_1'));
      await oauth().addGrant(grant('grant_2'));
      await oauth().addGrant(grant('grant_3', { userId: bob.id }));
      await oauth().addGrant(grant('grant_4', { expiresAt: NOW }));
      await oauth().touchGrants(new Map([['grant_1', NOW + 7]]));
      await oauth().touchGrants(new Map([['grant_1', NOW + 3]]));
      const ids = async (user: string | null) => {
        const { grants, totalCount } = await oauth().listGrants(user, everything, NOW);
        expect(totalCount).toBe(grants.length);
        return grants.map(({ id }) => id);
      };
      expect(await ids(null)).toEqual(['grant_1', 'grant_3', 'grant_2']);
      expect(await ids(alice.id)).toEqual(['grant_1', 'grant_2']);
      const second = await oauth().listGrants(null, { page: 2, pageSize: 2 }, NOW);
      expect(second).toMatchObject({ grants: [{ id: 'grant_2' }], totalCount: 3 });
    });

    it('of one user give way above 64, the longest unused first', async () => {
      for (let at = 1; at <= 64; at++) await oauth().addGrant(grant(`grant_${at}`, { lastUsedAt: NOW + at }));
      expect(await oauth().addGrant(grant('grant_new', { lastUsedAt: NOW + 100 }))).toEqual(['grant_1']);
    });

    it('are removed with all that was issued under them', async () => {
      await oauth().addGrant(grant('grant_1'));
      await oauth().putArtifact(artifact(1));
      expect(await oauth().removeGrant('grant_1', alice.id)).toEqual(grant('grant_1'));
      expect(await oauth().removeGrant('grant_1', alice.id)).toBeNull();
      expect(await oauth().findArtifact('refresh', Buffer.alloc(32, 1))).toBeNull();
      await expect(oauth().putArtifact(artifact(2))).rejects.toThrow();
    });

    it('are removed as those of their user alone, or of anybody, disabled or not', async () => {
      await oauth().addGrant(grant('grant_1', { userId: bob.id }));
      await store().users.updateUser(bob.id, () => ({ disabledAt: NOW }));
      expect(await oauth().removeGrant('grant_1', alice.id)).toBeNull();
      expect(await oauth().removeGrant('grant_1', null)).toEqual(grant('grant_1', { userId: bob.id }));
    });
  });

  describe(`${name}: OAuth tokens and requests`, () => {
    it('are found by kind and hash, and replaced', async () => {
      await oauth().addGrant(grant('grant_1'));
      await oauth().putArtifact(artifact(1));
      expect(await oauth().findArtifact('refresh', Buffer.alloc(32, 1))).toEqual(artifact(1));
      expect(await oauth().findArtifact('access', Buffer.alloc(32, 1))).toBeNull();
      await oauth().putArtifact(artifact(1, { payload: 'new', expiresAt: NOW + 600 }));
      const found = await oauth().findArtifact('refresh', Buffer.alloc(32, 1));
      expect(found).toMatchObject({ payload: 'new', expiresAt: NOW + 600 });
      await oauth().removeArtifact('refresh', Buffer.alloc(32, 1));
      expect(await oauth().findArtifact('refresh', Buffer.alloc(32, 1))).toBeNull();
    });

    it('are used once, also by two at a time', async () => {
      await oauth().addGrant(grant('grant_1'));
      await oauth().putArtifact(artifact(1));
      const hash = Buffer.alloc(32, 1);
      const uses = [1, 2, 3].map(() => oauth().consumeArtifact('refresh', hash, NOW + 1));
      expect((await Promise.all(uses)).filter((first) => first)).toHaveLength(1);
      expect((await oauth().findArtifact('refresh', hash))?.consumedAt).toBe(NOW + 1);
      expect(await oauth().consumeArtifact('refresh', Buffer.alloc(32, 9), NOW)).toBe(false);
    });

    it('are bounded: 64 of a kind for a grant, 100 requests of a network', async () => {
      await oauth().addGrant(grant('grant_1'));
      for (let at = 1; at <= 65; at++) await oauth().putArtifact(artifact(at, { createdAt: NOW + at }));
      expect(await oauth().findArtifact('refresh', Buffer.alloc(32, 1))).toBeNull();
      expect(await oauth().findArtifact('refresh', Buffer.alloc(32, 2))).not.toBeNull();
      const request = (fill: number, network: string) =>
        oauth().putArtifact(
          artifact(fill, { kind: 'request', grantId: null, network, createdAt: NOW + fill }),
        );
      await request(200, 'other');
      for (let at = 1; at <= 101; at++) await request(at, 'flood');
      expect(await oauth().findArtifact('request', Buffer.alloc(32, 1))).toBeNull();
      expect(await oauth().findArtifact('request', Buffer.alloc(32, 2))).not.toBeNull();
      expect(await oauth().findArtifact('request', Buffer.alloc(32, 200))).not.toBeNull();
    });

    it('[LIMIT] are 10,000 requests; beyond, the oldest of the network with most gives way', async () => {
      lowered('requestsTotal', 10_000, 4);
      const networks = ['quiet', 'loud', 'loud', 'middle', 'late'];
      const found = async (at: number) =>
        (await oauth().findArtifact('request', Buffer.alloc(32, at))) !== null;
      for (const [at, network] of networks.entries())
        await oauth().putArtifact(
          artifact(at, { kind: 'request', grantId: null, network, createdAt: NOW + at }),
        );
      expect(await Promise.all([0, 1, 2, 3, 4].map(found))).toEqual([true, false, true, true, true]);
    });

    it('go when they are over, as grants and clients do', async () => {
      await oauth().addClient(client('client_2'));
      await oauth().addGrant(grant('grant_1'));
      await oauth().putArtifact(artifact(1));
      await oauth().pruneOAuth(NOW + 500);
      expect(await oauth().findArtifact('refresh', Buffer.alloc(32, 1))).toBeNull();
      await oauth().pruneOAuth(NOW + 1_000);
      expect(await oauth().removeGrant('grant_1', null)).toBeNull();
      expect(await oauth().findClient('client_2', NOW)).toBeNull();
    });
  });
}
