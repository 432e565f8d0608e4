/** OAuth clients, grants, and what is issued under them, as rows. Secrets are found by their SHA-256; contents are sealed. */
import type { Artifact, ArtifactKind, OAuthStore, Page, StoredGrant } from '../../control/ports/index.ts';
import type { Grant, OAuthClient } from '../../model/access/oauth.ts';
import { limits } from '../../model/limits.ts';
import type { Scope } from '../../model/scopes.ts';
import type { Role } from '../../model/user.ts';
import type { Secrets } from '../files/secrets.ts';
import { type Row, type Sql, type SqlValues, statement } from '../sql/sql.ts';

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
      yield* oauthStatements.addClient.run(encodeClient(client));
      yield* oauthStatements.surplusClients.run({ network: client.network, kept: clientsPerNetwork });
      const unused = Number((yield* oauthStatements.countUnusedClients.get())?.['count']);
      if (unused > clientsTotal) yield* oauthStatements.displaceClient.run();
    });
  }

  async findClient(id: string, now: number): Promise<OAuthClient | null> {
    const row = await this.#sql.read(() => oauthStatements.findClient.get({ id, now }));
    return row ? decodeClient(row) : null;
  }

  addGrant(grant: Grant): Promise<string[]> {
    return this.#sql.write(`grants of ${grant.userId}`, function* () {
      yield* oauthStatements.addGrant.run(encodeGrant(grant));
      const until = grant.expiresAt + limits.oauth.formerClientMs;
      yield* oauthStatements.keepClient.run({ id: grant.clientId, until });
      const ended = yield* oauthStatements.surplusGrants.all({
        user: grant.userId,
        kept: limits.oauth.grantsPerUser,
      });
      return ended.map(({ id }) => String(id));
    });
  }

  async findGrant(id: string, now: number): Promise<StoredGrant | null> {
    const row = await this.#sql.read(() => oauthStatements.findGrant.get({ id, now }));
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
    const { listGrants, countGrants } = oauthStatements;
    const window = { offset: (page - 1) * pageSize, limit: pageSize };
    return this.#sql.readTogether(function* () {
      const grants = (yield* listGrants.all({ user: userId, now, ...window })).map(decodeGrant);
      return { grants, totalCount: Number((yield* countGrants.get({ user: userId, now }))?.['count']) };
    }, userId ?? undefined);
  }

  async extendGrant(id: string, expiresAt: number): Promise<void> {
    await this.#sql.write(`grant ${id}`, function* () {
      yield* oauthStatements.extendGrant.run({ id, until: expiresAt });
      const until = expiresAt + limits.oauth.formerClientMs;
      yield* oauthStatements.keepClientOf.run({ grant: id, until });
    });
  }

  async removeGrant(id: string, userId: string | null): Promise<Grant | null> {
    const row = await this.#sql.writeOne(() => oauthStatements.removeGrant.get({ id, user: userId }));
    return row ? decodeGrant(row) : null;
  }

  async touchGrants(used: Map<string, number>): Promise<void> {
    if (used.size === 0) return;
    await this.#sql.write('uses of grants', function* () {
      for (const [id, at] of used) yield* oauthStatements.touchGrant.run({ id, at });
    });
  }

  async putArtifact(artifact: Artifact): Promise<void> {
    const { kind, grantId, network } = artifact;
    const values = this.#encode(artifact);
    const { requestsPerNetwork, requestsTotal, tokensPerGrant } = limits.oauth;
    await this.#sql.write(grantId === null ? REQUESTS : `artifacts of ${grantId}`, function* () {
      yield* oauthStatements.putArtifact.run(values);
      if (grantId !== null)
        yield* oauthStatements.surplusOfGrant.run({ kind, grant: grantId, kept: tokensPerGrant });
      if (network === null) return;
      yield* oauthStatements.surplusOfNetwork.run({ kind, network, kept: requestsPerNetwork });
      const count = Number((yield* oauthStatements.countArtifacts.get({ kind }))?.['count']);
      if (count > requestsTotal) yield* oauthStatements.displaceArtifact.run({ kind });
    });
  }

  async findArtifact(kind: ArtifactKind, hash: Buffer): Promise<Artifact | null> {
    const row = await this.#sql.read(() => oauthStatements.findArtifact.get({ kind, hash }));
    return row ? this.#decode(row) : null;
  }

  async consumeArtifact(kind: ArtifactKind, hash: Buffer, now: number): Promise<boolean> {
    return (await this.#sql.writeOne(() => oauthStatements.consumeArtifact.run({ kind, hash, now }))) === 1;
  }

  async removeArtifact(kind: ArtifactKind, hash: Buffer): Promise<void> {
    await this.#sql.writeOne(() => oauthStatements.removeArtifact.run({ kind, hash }));
  }

  async pruneOAuth(now: number): Promise<void> {
    await this.#sql.write('oauth rows that are over', function* () {
      yield* oauthStatements.pruneArtifacts.run({ now });
      yield* oauthStatements.pruneGrants.run({ now });
      yield* oauthStatements.pruneClients.run({ now });
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

const CLIENT = 'id, name, redirect_uris, network, created_at, expires_at';
const GRANT =
  'id, user_id, client_id, client_name, redirect_host, resource, scopes, created_at, last_used_at, expires_at';
const ARTIFACT = 'kind, hash, grant_id, network, created_at, expires_at, consumed_at, payload';
const OF_USER = '(user_id = :user OR :user IS NULL)';
const UNUSED = 'NOT EXISTS (SELECT 1 FROM oauth_grants WHERE oauth_grants.client_id = oauth_clients.id)';

const oauthStatements = {
  addClient: statement(
    `INSERT INTO oauth_clients (${CLIENT}) VALUES (:id, :name, :uris, :network, :created, :expires)`,
  ),
  findClient: statement(`SELECT ${CLIENT} FROM oauth_clients WHERE id = :id AND expires_at > :now`),
  surplusClients: statement(
    `DELETE FROM oauth_clients WHERE id IN (SELECT id FROM oauth_clients WHERE network = :network AND ${UNUSED}
       ORDER BY created_at DESC, rowid DESC LIMIT 1000 OFFSET :kept)`,
  ),
  countUnusedClients: statement(`SELECT count(*) AS count FROM oauth_clients WHERE ${UNUSED}`),
  displaceClient: statement(
    `DELETE FROM oauth_clients WHERE id IN (SELECT id FROM oauth_clients WHERE ${UNUSED} AND network =
       (SELECT network FROM oauth_clients WHERE ${UNUSED} GROUP BY network ORDER BY count(*) DESC, network LIMIT 1)
       ORDER BY created_at, rowid LIMIT 1)`,
  ),
  keepClient: statement(
    'UPDATE oauth_clients SET expires_at = :until WHERE id = :id AND expires_at < :until',
  ),
  keepClientOf: statement(
    `UPDATE oauth_clients SET expires_at = :until
       WHERE id = (SELECT client_id FROM oauth_grants WHERE id = :grant) AND expires_at < :until`,
  ),
  pruneClients: statement('DELETE FROM oauth_clients WHERE expires_at <= :now'),

  addGrant: statement(
    `INSERT INTO oauth_grants (${GRANT})
       VALUES (:id, :user, :client, :client_name, :redirect_host, :resource, :scopes, :created, :used, :expires)`,
  ),
  surplusGrants: statement(
    `DELETE FROM oauth_grants WHERE id IN (SELECT id FROM oauth_grants WHERE user_id = :user
       ORDER BY last_used_at DESC, rowid DESC LIMIT 1000 OFFSET :kept) RETURNING id`,
  ),
  findGrant: statement(
    `SELECT oauth_grants.*, users.name, users.email, users.role, users.disabled_at
     FROM oauth_grants JOIN users ON users.id = oauth_grants.user_id
     WHERE oauth_grants.id = :id AND oauth_grants.expires_at > :now`,
  ),
  listGrants: statement(
    `SELECT ${GRANT} FROM oauth_grants WHERE ${OF_USER} AND expires_at > :now
       ORDER BY last_used_at DESC, rowid DESC LIMIT :limit OFFSET :offset`,
  ),
  countGrants: statement(`SELECT count(*) AS count FROM oauth_grants WHERE ${OF_USER} AND expires_at > :now`),
  extendGrant: statement(
    'UPDATE oauth_grants SET expires_at = :until WHERE id = :id AND expires_at < :until',
  ),
  removeGrant: statement(`DELETE FROM oauth_grants WHERE id = :id AND ${OF_USER} RETURNING ${GRANT}`),
  touchGrant: statement('UPDATE oauth_grants SET last_used_at = :at WHERE id = :id AND last_used_at < :at'),
  pruneGrants: statement('DELETE FROM oauth_grants WHERE expires_at <= :now'),

  putArtifact: statement(
    `INSERT INTO oauth_artifacts (${ARTIFACT})
       VALUES (:kind, :hash, :grant, :network, :created, :expires, :consumed, :payload)
     ON CONFLICT (kind, hash) DO UPDATE SET payload = excluded.payload, expires_at = excluded.expires_at`,
  ),
  surplusOfGrant: statement(
    `DELETE FROM oauth_artifacts WHERE kind = :kind AND hash IN (SELECT hash FROM oauth_artifacts
       WHERE kind = :kind AND grant_id = :grant ORDER BY created_at DESC, rowid DESC LIMIT 1000 OFFSET :kept)`,
  ),
  surplusOfNetwork: statement(
    `DELETE FROM oauth_artifacts WHERE kind = :kind AND hash IN (SELECT hash FROM oauth_artifacts
       WHERE kind = :kind AND network = :network ORDER BY created_at DESC, rowid DESC LIMIT 1000 OFFSET :kept)`,
  ),
  countArtifacts: statement('SELECT count(*) AS count FROM oauth_artifacts WHERE kind = :kind'),
  displaceArtifact: statement(
    `DELETE FROM oauth_artifacts WHERE kind = :kind AND hash IN (SELECT hash FROM oauth_artifacts
       WHERE kind = :kind AND network = (SELECT network FROM oauth_artifacts WHERE kind = :kind
         GROUP BY network ORDER BY count(*) DESC, network LIMIT 1)
       ORDER BY created_at, rowid LIMIT 1)`,
  ),
  findArtifact: statement(`SELECT ${ARTIFACT} FROM oauth_artifacts WHERE kind = :kind AND hash = :hash`),
  consumeArtifact: statement(
    `UPDATE oauth_artifacts SET consumed_at = :now
       WHERE kind = :kind AND hash = :hash AND consumed_at IS NULL`,
  ),
  removeArtifact: statement('DELETE FROM oauth_artifacts WHERE kind = :kind AND hash = :hash'),
  pruneArtifacts: statement('DELETE FROM oauth_artifacts WHERE expires_at <= :now'),
};
