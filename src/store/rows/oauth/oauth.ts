/** OAuth clients, grants, and what is issued under them, as rows. Secrets are found by their SHA-256; contents are sealed. */
import type { Artifact, ArtifactKind, OAuthStore, Page, StoredGrant } from '../../../control/ports/index.ts';
import type { Grant, OAuthClient } from '../../../model/access/oauth/grant.ts';
import type { Scope } from '../../../model/access/scopes.ts';
import { limits } from '../../../model/limits.ts';
import type { Role } from '../../../model/user.ts';
import type { Secrets } from '../../secrets.ts';
import type { Row, Sql, SqlValues } from '../../sql/sql.ts';
import { oauthStatements as statements } from './statements.ts';

/** Bounds over all networks are kept by one addition after another. */
const CLIENTS = 'oauth clients';
const REQUESTS = 'oauth requests';

export class OAuthRows implements OAuthStore {
  readonly #sql: Sql;
  readonly #secrets: Secrets;

  constructor(sql: Sql, secrets: Secrets) {
    this.#sql = sql;
    this.#secrets = secrets;
  }

  async addClient(client: OAuthClient): Promise<void> {
    const { clientsPerNetwork, clientsTotal } = limits.oauth;
    await this.#sql.write(CLIENTS, function* () {
      yield* statements.addClient.run(encodeClient(client));
      yield* statements.surplusClients.run({ network: client.network, kept: clientsPerNetwork });
      const unused = Number((yield* statements.countUnusedClients.get())?.['count']);
      if (unused > clientsTotal) yield* statements.displaceClient.run();
    });
  }

  async findClient(id: string, now: number): Promise<OAuthClient | null> {
    const row = await this.#sql.read(() => statements.findClient.get({ id, now }));
    return row ? decodeClient(row) : null;
  }

  addGrant(grant: Grant): Promise<string[]> {
    return this.#sql.write(`grants of ${grant.userId}`, function* () {
      yield* statements.addGrant.run(encodeGrant(grant));
      const until = grant.expiresAt + limits.oauth.formerClientMs;
      yield* statements.keepClient.run({ id: grant.clientId, until });
      const ended = yield* statements.surplusGrants.all({
        user: grant.userId,
        kept: limits.oauth.grantsPerUser,
      });
      return ended.map(({ id }) => String(id));
    });
  }

  async findGrant(id: string, now: number): Promise<StoredGrant | null> {
    const row = await this.#sql.read(() => statements.findGrant.get({ id, now }));
    if (!row || row['disabled_at'] !== null) return null;
    const { name, email, role } = row;
    const user = { name: String(name), email: String(email), role: role as Role };
    return { grant: decodeGrant(row), user: { id: String(row['user_id']), ...user } };
  }

  listGrants(
    userId: string | null,
    { page, pageSize }: Page,
    now: number,
  ): Promise<{ grants: Grant[]; totalCount: number }> {
    const { listGrants, countGrants } = statements;
    const window = { offset: (page - 1) * pageSize, limit: pageSize };
    return this.#sql.readTogether(function* () {
      const grants = (yield* listGrants.all({ user: userId, now, ...window })).map(decodeGrant);
      return { grants, totalCount: Number((yield* countGrants.get({ user: userId, now }))?.['count']) };
    }, userId ?? undefined);
  }

  async extendGrant(id: string, expiresAt: number): Promise<void> {
    await this.#sql.write(`grant ${id}`, function* () {
      yield* statements.extendGrant.run({ id, until: expiresAt });
      const until = expiresAt + limits.oauth.formerClientMs;
      yield* statements.keepClientOf.run({ grant: id, until });
    });
  }

  async removeGrant(id: string, userId: string | null): Promise<Grant | null> {
    const row = await this.#sql.writeOne(() => statements.removeGrant.get({ id, user: userId }));
    return row ? decodeGrant(row) : null;
  }

  async touchGrants(used: Map<string, number>): Promise<void> {
    if (used.size === 0) return;
    await this.#sql.write('uses of grants', function* () {
      for (const [id, at] of used) yield* statements.touchGrant.run({ id, at });
    });
  }

  async putArtifact(artifact: Artifact): Promise<void> {
    const { kind, grantId, network } = artifact;
    const values = this.#encode(artifact);
    const { requestsPerNetwork, requestsTotal, tokensPerGrant } = limits.oauth;
    await this.#sql.write(grantId === null ? REQUESTS : `artifacts of ${grantId}`, function* () {
      yield* statements.putArtifact.run(values);
      if (grantId !== null)
        yield* statements.surplusOfGrant.run({ kind, grant: grantId, kept: tokensPerGrant });
      if (network === null) return;
      yield* statements.surplusOfNetwork.run({ kind, network, kept: requestsPerNetwork });
      const count = Number((yield* statements.countArtifacts.get({ kind }))?.['count']);
      if (count > requestsTotal) yield* statements.displaceArtifact.run({ kind });
    });
  }

  async findArtifact(kind: ArtifactKind, hash: Buffer): Promise<Artifact | null> {
    const row = await this.#sql.read(() => statements.findArtifact.get({ kind, hash }));
    return row ? this.#decode(row) : null;
  }

  async consumeArtifact(kind: ArtifactKind, hash: Buffer, now: number): Promise<boolean> {
    return (await this.#sql.writeOne(() => statements.consumeArtifact.run({ kind, hash, now }))) === 1;
  }

  async removeArtifact(kind: ArtifactKind, hash: Buffer): Promise<void> {
    await this.#sql.writeOne(() => statements.removeArtifact.run({ kind, hash }));
  }

  async pruneOAuth(now: number): Promise<void> {
    await this.#sql.write('oauth rows that are over', function* () {
      yield* statements.pruneArtifacts.run({ now });
      yield* statements.pruneGrants.run({ now });
      yield* statements.pruneClients.run({ now });
    });
  }

  #encode({ kind, hash, grantId, network, payload, createdAt, expiresAt, consumedAt }: Artifact): SqlValues {
    const times = { created: createdAt, expires: expiresAt, consumed: consumedAt };
    return {
      kind,
      hash,
      grant: grantId,
      network,
      payload: this.#secrets.seal(payload, placeOf(kind, hash)),
      ...times,
    };
  }

  #decode(row: Row): Artifact {
    const kind = row['kind'] as ArtifactKind;
    const hash = Buffer.from(row['hash'] as Uint8Array);
    return {
      ...{ kind, hash, payload: this.#secrets.open(row['payload'], placeOf(kind, hash)) },
      grantId: row['grant_id'] as string | null,
      network: row['network'] as string | null,
      createdAt: Number(row['created_at']),
      expiresAt: Number(row['expires_at']),
      consumedAt: row['consumed_at'] as number | null,
    };
  }
}

function placeOf(kind: ArtifactKind, hash: Buffer) {
  return { table: 'oauth_artifacts', row: `${kind} ${hash.toString('hex')}`, column: 'payload' };
}

function encodeClient({ id, name, redirectUris, network, createdAt, expiresAt }: OAuthClient): SqlValues {
  return { id, name, uris: JSON.stringify(redirectUris), network, created: createdAt, expires: expiresAt };
}

function decodeClient(row: Row): OAuthClient {
  return {
    id: String(row['id']),
    name: row['name'] as string | null,
    redirectUris: JSON.parse(String(row['redirect_uris'])) as string[],
    network: String(row['network']),
    createdAt: Number(row['created_at']),
    expiresAt: Number(row['expires_at']),
  };
}

function encodeGrant(grant: Grant): SqlValues {
  const { id, userId, clientId, clientName, redirectHost, resource } = grant;
  return {
    ...{ id, user: userId, client: clientId, client_name: clientName, redirect_host: redirectHost, resource },
    scopes: JSON.stringify(grant.scopes),
    ...{ created: grant.createdAt, used: grant.lastUsedAt, expires: grant.expiresAt },
  };
}

function decodeGrant(row: Row): Grant {
  return {
    id: String(row['id']),
    userId: String(row['user_id']),
    clientId: String(row['client_id']),
    clientName: row['client_name'] as string | null,
    redirectHost: String(row['redirect_host']),
    resource: String(row['resource']),
    scopes: JSON.parse(String(row['scopes'])) as Scope[],
    createdAt: Number(row['created_at']),
    lastUsedAt: Number(row['last_used_at']),
    expiresAt: Number(row['expires_at']),
  };
}
