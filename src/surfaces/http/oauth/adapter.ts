/** Keeps what the library issues in the service's records, where every replica finds it. */
import { type Adapter, type AdapterPayload, errors } from 'oidc-provider';
import type { OAuthRecords } from '../../../control/people/oauth-records.ts';
import type { ArtifactKind } from '../../../control/ports/index.ts';
import type { OAuthClient } from '../../../model/access/oauth.ts';
import { publicClient } from './metadata.ts';

const kinds: Record<string, ArtifactKind> = {
  Interaction: 'request',
  AuthorizationCode: 'code',
  AccessToken: 'access',
  RefreshToken: 'refresh',
};

/** @param networkNow Network of the request that is being served. */
export function createAdapter(records: OAuthRecords, networkNow: () => string): (model: string) => Adapter {
  return (model) => {
    const kind = kinds[model];
    if (kind !== undefined) return adapterOf(kind, records, networkNow);
    if (model === 'Client')
      return { ...nothing, find: async (id) => metadataOf(await records.findClient(id)) };
    if (model === 'Grant') return grants(records);
    // The library's own sessions are not kept: who decides is signed in to the page.
    return nothing;
  };
}

function adapterOf(kind: ArtifactKind, records: OAuthRecords, networkNow: () => string): Adapter {
  return {
    ...nothing,
    async upsert(id, { jti: _, ...payload }, expiresIn = 0) {
      await records.put({
        ...{ kind, secret: id, payload: JSON.stringify(payload) },
        grantId: payload.grantId ?? null,
        network: kind === 'request' ? networkNow() : null,
        expiresAt: Date.now() + expiresIn * 1_000,
      });
    },
    async find(id) {
      const found = await records.find(kind, id);
      if (found === null) return undefined;
      const consumed = found.isSpent ? { consumed: true } : {};
      return { ...(JSON.parse(found.payload) as AdapterPayload), jti: id, ...consumed };
    },
    // The library looks first and marks later: of two requests at once, both would have looked in time.
    async consume(id) {
      if (!(await records.consume(kind, id))) throw new errors.InvalidGrant('used already');
    },
    destroy: (id) => records.remove(kind, id),
  };
}

/** Grants are made by a person's decision; the library reads and ends them. All that was issued ends with its grant. */
function grants(records: OAuthRecords): Adapter {
  return {
    ...nothing,
    async find(id) {
      const stored = await records.findGrant(id);
      if (stored === null) return undefined;
      const { userId, clientId, resource, scopes, createdAt, expiresAt } = stored.grant;
      return {
        ...{ jti: id, kind: 'Grant', accountId: userId, clientId },
        resources: { [resource]: scopes.join(' ') },
        ...{ iat: Math.floor(createdAt / 1_000), exp: Math.floor(expiresAt / 1_000) },
      };
    },
    destroy: (id) => records.endGrant(id),
  };
}

const nothing: Adapter = {
  upsert: async () => {},
  find: async () => undefined,
  findByUserCode: async () => undefined,
  findByUid: async () => undefined,
  consume: async () => {},
  destroy: async () => {},
  revokeByGrantId: async () => {},
};

function metadataOf(client: OAuthClient | null): AdapterPayload | undefined {
  if (client === null) return undefined;
  return {
    ...publicClient,
    client_id: client.id,
    ...(client.name === null ? {} : { client_name: client.name }),
    redirect_uris: [...client.redirectUris],
  };
}
