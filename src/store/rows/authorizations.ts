/** Users' authorizations at the code-hosting provider, as rows. Tokens are sealed for their row. */
import type { AuthorizationStore } from '../../control/ports/index.ts';
import type { Authorization, ProviderTokens } from '../../model/provider.ts';
import type { Secrets } from '../files/secrets.ts';
import { type Dialect, type Row, type Sql, statement } from '../sql/sql.ts';

type TokenColumn = 'access_token' | 'refresh_token';

export class AuthorizationRows implements AuthorizationStore {
  readonly #sql: Sql;
  readonly #secrets: Secrets;
  readonly #takeRenewal: ReturnType<typeof prepare>;

  constructor(sql: Sql, secrets: Secrets) {
    this.#sql = sql;
    this.#secrets = secrets;
    this.#takeRenewal = prepare(sql.dialect);
  }

  async get(userId: string, provider: string): Promise<Authorization | null> {
    const row = await this.#sql.read(() => statements.get.get({ user: userId, provider }), userId);
    return row ? this.#decode(row) : null;
  }

  async list(userId: string): Promise<Authorization[]> {
    const rows = await this.#sql.read(() => statements.list.all({ user: userId }), userId);
    return rows.map((row) => this.#decode(row));
  }

  async put({ tokens, account, ...rest }: Authorization): Promise<void> {
    const row = {
      id: rest.id,
      user: rest.userId,
      provider: rest.provider,
      account_id: account.id,
      account_login: account.login,
      created: rest.createdAt,
      updated: rest.updatedAt,
      ...this.#encode(rest.id, tokens),
    };
    await this.#sql.write(
      `authorizations of ${rest.userId}`,
      function* () {
        yield* statements.clear.run({ user: rest.userId, provider: rest.provider });
        yield* statements.insert.run(row);
      },
      rest.userId,
    );
  }

  async takeRenewal(id: string, seen: number, forMs: number): Promise<number | null> {
    const values = { id, seen, for: forMs };
    const row = await this.#sql.writeOne(() => this.#takeRenewal.get(values));
    return row ? Number(row['renewing_until']) : null;
  }

  async leaveRenewal(id: string, turn: number): Promise<void> {
    await this.#sql.writeOne(() => statements.leaveRenewal.run({ id, turn }));
  }

  async renew(id: string, tokens: ProviderTokens, now: number): Promise<boolean> {
    const values = { id, updated: now, ...this.#encode(id, tokens) };
    return (await this.#sql.writeOne(() => statements.renew.run(values))) > 0;
  }

  async remove(id: string): Promise<boolean> {
    return (await this.#sql.writeOne(() => statements.remove.run({ id }))) > 0;
  }

  #encode(id: string, tokens: ProviderTokens) {
    const { accessToken, accessExpiresAt, refreshToken, refreshExpiresAt, scopes } = tokens;
    return {
      scopes: JSON.stringify(scopes),
      access: this.#secrets.seal(accessToken, placeOf(id, 'access_token')),
      access_expires: accessExpiresAt,
      refresh: refreshToken === null ? null : this.#secrets.seal(refreshToken, placeOf(id, 'refresh_token')),
      refresh_expires: refreshExpiresAt,
    };
  }

  #decode(row: Row): Authorization {
    const id = String(row['id']);
    const refresh = row['refresh_token'];
    return {
      id,
      userId: String(row['user_id']),
      provider: String(row['provider']),
      account: { id: String(row['account_id']), login: String(row['account_login']) },
      tokens: {
        accessToken: this.#secrets.open(row['access_token'], placeOf(id, 'access_token')),
        accessExpiresAt: timeOf(row['access_expires_at']),
        refreshToken: refresh === null ? null : this.#secrets.open(refresh, placeOf(id, 'refresh_token')),
        refreshExpiresAt: timeOf(row['refresh_expires_at']),
        scopes: JSON.parse(String(row['scopes'])) as string[],
      },
      createdAt: Number(row['created_at']),
      updatedAt: Number(row['updated_at']),
    };
  }
}

const all = 'SELECT * FROM provider_authorizations';
const statements = {
  get: statement(`${all} WHERE user_id = :user AND provider = :provider`),
  list: statement(`${all} WHERE user_id = :user ORDER BY provider`),
  clear: statement('DELETE FROM provider_authorizations WHERE user_id = :user AND provider = :provider'),
  insert: statement(
    `INSERT INTO provider_authorizations (id, user_id, provider, account_id, account_login, scopes,
         access_token, access_expires_at, refresh_token, refresh_expires_at, created_at, updated_at)
       VALUES (:id, :user, :provider, :account_id, :account_login, :scopes,
         :access, :access_expires, :refresh, :refresh_expires, :created, :updated)`,
  ),
  renew: statement(
    `UPDATE provider_authorizations
       SET scopes = :scopes, access_token = :access, access_expires_at = :access_expires,
         refresh_token = :refresh, refresh_expires_at = :refresh_expires, updated_at = :updated,
         renewing_until = NULL
       WHERE id = :id`,
  ),
  leaveRenewal: statement(
    `UPDATE provider_authorizations SET renewing_until = NULL WHERE id = :id AND renewing_until = :turn`,
  ),
  remove: statement('DELETE FROM provider_authorizations WHERE id = :id'),
};

function prepare({ now }: Dialect) {
  return statement(
    `UPDATE provider_authorizations SET renewing_until = ${now} + :for
       WHERE id = :id AND updated_at = :seen AND (renewing_until IS NULL OR renewing_until <= ${now})
       RETURNING renewing_until`,
  );
}

function placeOf(id: string, column: TokenColumn) {
  return { table: 'provider_authorizations', row: id, column };
}

function timeOf(value: unknown): number | null {
  return value === null ? null : Number(value);
}
