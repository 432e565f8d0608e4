/** Two processes over one store: one begins a sign-in, the other finishes it, and no state or logout works at both. */
import { beforeEach, describe, expect, it } from 'vitest';
import { AccessService } from '../../src/control/access/tokens.ts';
import { createPeople, type People } from '../../src/control/people/people.ts';
import { unlimited } from '../../src/model/quota.ts';
import { localRegion } from '../../src/model/region.ts';
import { memoryStore } from '../store/memory/memory-store.ts';
import { Browser } from './support/browser.ts';
import { providerAt, startWorld, type World } from './support/signing-in.ts';
import { CLIENT_ID } from './support/team-provider.ts';

const ADDRESS = '192.0.2.1';

let world: World;
let replicas: [People, People];

beforeEach(async () => {
  world = await startWorld();
  world.team.people.set('sub-1', {
    ...{ name: 'Grace', email: 'grace@example.org', email_verified: true, groups: ['dev'] },
  });
  world.team.next = 'sub-1';
  const store = memoryStore();
  const replica = () => {
    const people = createPeople({
      ...{ store, clock: Date, rate: null, regions: [localRegion] },
      access: new AccessService({ tokens: store.accessTokens, clock: Date, previewKey: Buffer.alloc(32) }),
      quota: { everybody: {}, members: unlimited },
      signInProvider: providerAt(world.team.issuer).provider,
    });
    people.identityProviderSignIns?.servedAt(world.http.url);
    return people;
  };
  replicas = [replica(), replica()];
});

/** The way to the provider and back, without a service in between. */
async function walk({ identityProviderSignIns }: People): Promise<{ cookie: string; query: string }> {
  const begun = await identityProviderSignIns?.begin(ADDRESS, world.http.url, '/snapshots');
  const back = await new Browser().follow(world, begun?.url ?? '');
  return { cookie: begun?.cookie ?? '', query: new URL(back).search.slice(1) };
}

describe('replicas', () => {
  it('finish what another one has begun, once among all of them', async () => {
    const [one, two] = replicas;
    const { cookie, query } = await walk(one);
    const finished = await two.identityProviderSignIns?.finish(ADDRESS, cookie, query, null);
    expect(finished).toMatchObject({ returnPath: '/snapshots', opened: { caller: { name: 'Grace' } } });
    for (const { identityProviderSignIns } of replicas)
      await expect(identityProviderSignIns?.finish(ADDRESS, cookie, query, null)).rejects.toMatchObject({
        code: 'unauthenticated',
      });
  });

  it('find the user that another one has made', async () => {
    const ids = [];
    for (const replica of replicas) {
      const { cookie, query } = await walk(replica);
      ids.push(
        (await replica.identityProviderSignIns?.finish(ADDRESS, cookie, query, null))?.opened.caller.id,
      );
    }
    expect(ids[0]).toMatch(/^user_/);
    expect(ids[1]).toBe(ids[0]);
  });

  it('end the sign-ins of all of them, once for each logout token', async () => {
    const [one, two] = replicas;
    const { cookie, query } = await walk(one);
    const opened = (await one.identityProviderSignIns?.finish(ADDRESS, cookie, query, null))?.opened;
    const sent = `${opened?.signIn.id}.${opened?.token}`;
    expect(await two.signIns.authenticate(sent)).toMatchObject({ caller: { name: 'Grace' } });
    const now = Math.floor(Date.now() / 1_000);
    const token = await world.team.sign({
      ...{ iss: world.team.issuer, aud: CLIENT_ID, iat: now, exp: now + 120, jti: 'jti', sub: 'sub-1' },
      events: { 'http://schemas.openid.net/event/backchannel-logout': {} },
    });
    expect(await two.identityProviderSignIns?.logOut(ADDRESS, token)).toBe(1);
    expect(await one.signIns.authenticate(sent)).toBeNull();
    await expect(one.identityProviderSignIns?.logOut(ADDRESS, token)).rejects.toMatchObject({
      code: 'invalid_argument',
    });
  });
});
