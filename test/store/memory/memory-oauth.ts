/** OAuth clients, grants and what is issued under them, in memory. */
import type { Artifact, Store } from '../../../src/control/ports/index.ts';
import type { Grant, OAuthClient } from '../../../src/model/access/oauth.ts';
import { limits } from '../../../src/model/limits.ts';

type People = Pick<Store, 'users'>;

export function memoryOAuth({ users }: People): Pick<Store, 'oauth'> {
  let clients: OAuthClient[] = [];
  let grants: Grant[] = [];
  let artifacts: Artifact[] = [];
  const unused = (some: OAuthClient[]) =>
    some.filter(({ id }) => !grants.some(({ clientId }) => clientId === id));
  const largest = <T extends { network: string | null }>(some: T[]): T[] => {
    const sizes = [...Map.groupBy(some, ({ network }) => network).values()];
    return (
      sizes.sort(
        (a, b) => b.length - a.length || ((a[0]?.network ?? '') < (b[0]?.network ?? '') ? -1 : 1),
      )[0] ?? []
    );
  };
  const keep = (id: string | undefined, until: number) => {
    clients = clients.map((one) =>
      one.id === id
        ? { ...one, expiresAt: Math.max(one.expiresAt, until + limits.oauth.formerClientMs) }
        : one,
    );
  };
  const newest = <T extends { createdAt: number }>(some: T[]) =>
    some.toReversed().sort((a, b) => b.createdAt - a.createdAt);
  const dropGrants = (ids: Set<string>) => {
    grants = grants.filter(({ id }) => !ids.has(id));
    artifacts = artifacts.filter(({ grantId }) => grantId === null || !ids.has(grantId));
  };
  const sorted = (userId: string | null) =>
    grants
      .filter((one) => userId === null || one.userId === userId)
      .reverse()
      .sort((a, b) => b.lastUsedAt - a.lastUsedAt);
  const is = (kind: string, hash: Buffer) => (one: Artifact) => one.kind === kind && one.hash.equals(hash);
  return {
    oauth: {
      async addClient(client) {
        clients.push(client);
        const own = unused(clients).filter(({ network }) => network === client.network);
        const surplus = new Set(newest(own).slice(limits.oauth.clientsPerNetwork));
        clients = clients.filter((one) => !surplus.has(one));
        if (unused(clients).length <= limits.oauth.clientsTotal) return;
        const oldest = newest(largest(unused(clients))).at(-1);
        clients = clients.filter((one) => one !== oldest);
      },
      findClient: async (id, now) => clients.find((one) => one.id === id && one.expiresAt > now) ?? null,
      async addGrant(grant) {
        grants.push(grant);
        keep(grant.clientId, grant.expiresAt);
        const ended = sorted(grant.userId).slice(limits.oauth.grantsPerUser);
        dropGrants(new Set(ended.map(({ id }) => id)));
        return ended.map(({ id }) => id);
      },
      async findGrant(id, now) {
        const grant = grants.find((one) => one.id === id && one.expiresAt > now);
        const found = grant && (await users.findUser(grant.userId));
        if (!grant || !found || found.disabledAt !== null) return null;
        const { name, email, role } = found;
        return { grant, user: { id: found.id, name, email, role } };
      },
      async listGrants(userId, { page, pageSize }, now) {
        const live = sorted(userId).filter(({ expiresAt }) => expiresAt > now);
        return { grants: live.slice((page - 1) * pageSize, page * pageSize), totalCount: live.length };
      },
      async extendGrant(id, expiresAt) {
        grants = grants.map((one) =>
          one.id === id ? { ...one, expiresAt: Math.max(one.expiresAt, expiresAt) } : one,
        );
        keep(grants.find((one) => one.id === id)?.clientId, expiresAt);
      },
      async removeGrant(id, userId) {
        const grant = sorted(userId).find((one) => one.id === id);
        if (!grant) return null;
        dropGrants(new Set([id]));
        return grant;
      },
      async touchGrants(used) {
        grants = grants.map((one) => ({
          ...one,
          lastUsedAt: Math.max(one.lastUsedAt, used.get(one.id) ?? one.lastUsedAt),
        }));
      },
      async putArtifact(artifact) {
        const { kind, hash, grantId, network, payload, expiresAt } = artifact;
        if (grantId !== null && !grants.some(({ id }) => id === grantId)) throw new Error('no such grant');
        const known = artifacts.find(is(kind, hash));
        if (known) Object.assign(known, { payload, expiresAt });
        else artifacts.push({ ...artifact });
        const alike = artifacts.filter((one) => one.kind === kind);
        const { tokensPerGrant, requestsPerNetwork, requestsTotal } = limits.oauth;
        const ofGrant = grantId === null ? [] : alike.filter((one) => one.grantId === grantId);
        const ofNetwork = network === null ? [] : alike.filter((one) => one.network === network);
        const surplus = [
          ...newest(ofGrant).slice(tokensPerGrant),
          ...newest(ofNetwork).slice(requestsPerNetwork),
        ];
        if (network !== null && alike.length - surplus.length > requestsTotal)
          surplus.push(...newest(largest(alike)).slice(-1));
        artifacts = artifacts.filter((one) => !surplus.includes(one));
      },
      async findArtifact(kind, hash) {
        const found = artifacts.find(is(kind, hash));
        return found ? { ...found } : null;
      },
      async consumeArtifact(kind, hash, now) {
        const found = artifacts.find(is(kind, hash));
        if (!found || found.consumedAt !== null) return false;
        found.consumedAt = now;
        return true;
      },
      async removeArtifact(kind, hash) {
        artifacts = artifacts.filter((one) => !is(kind, hash)(one));
      },
      async pruneOAuth(now) {
        artifacts = artifacts.filter(({ expiresAt }) => expiresAt > now);
        dropGrants(new Set(grants.filter(({ expiresAt }) => expiresAt <= now).map(({ id }) => id)));
        clients = clients.filter(({ expiresAt }) => expiresAt > now);
      },
    },
  };
}
