/** Sign-ins of machines without a browser as rows, found by the SHA-256 of their secret. */
import type { DeviceSignInStore } from '../../control/ports/index.ts';
import type { DeviceAnswer, DeviceGrant, DeviceSignIn } from '../../model/access/ways-in.ts';
import { limits } from '../../model/limits.ts';
import { type Row, type Sql, statement } from '../sql/sql.ts';
import { scopesIn } from './api-keys.ts';

/** Bounds of all networks are kept by one addition after another. */
const LOCK = 'device sign-ins';

export class DeviceSignInRows implements DeviceSignInStore {
  readonly #sql: Sql;

  constructor(sql: Sql) {
    this.#sql = sql;
  }

  addDeviceSignIn(hash: Buffer, signIn: DeviceSignIn, network: string): Promise<boolean> {
    const { userCode, machine, address, createdAt, expiresAt } = signIn;
    const row = { hash, network, code: userCode, machine, address, created: createdAt, expires: expiresAt };
    return this.#sql.write(LOCK, function* () {
      yield* statements.prune.run({ now: createdAt });
      const count = yield* statements.count.get({ network });
      const { perNetwork, atOnce } = limits.deviceSignIn;
      if (Number(count?.['own']) >= perNetwork) return false;
      // Many networks together keep nobody out: the oldest of the one that has most goes.
      if (Number(count?.['together']) >= atOnce) yield* statements.displace.run();
      yield* statements.insert.run(row);
      return true;
    });
  }

  async findDeviceSignIn(userCode: string, now: number): Promise<DeviceSignIn | null> {
    const row = await this.#sql.read(() => statements.find.get({ code: userCode, now }));
    return row ? decode(row) : null;
  }

  async decideDeviceSignIn(userCode: string, grant: DeviceGrant | null, now: number): Promise<boolean> {
    const decision = {
      status: grant ? 'approved' : 'denied',
      user: grant?.userId ?? null,
      scopes: grant?.scopes ? JSON.stringify(grant.scopes) : null,
      minutes: grant?.keyMinutes ?? null,
    };
    const written = await this.#sql.writeOne(() =>
      statements.decide.run({ ...decision, code: userCode, now }),
    );
    return written === 1;
  }

  async takeDeviceAnswer(hash: Buffer, now: number): Promise<DeviceAnswer> {
    // Most questions come before the answer, and write nothing.
    if (await this.#sql.read(() => statements.waits.get({ hash, now }))) return { status: 'pending' };
    const taken = await this.#sql.writeOne(() => statements.take.get({ hash }));
    return taken && Number(taken['expires_at']) > now ? answerIn(taken) : { status: 'over' };
  }
}

const COLUMNS = 'user_code, machine, address, created_at, expires_at';
const WAITS = "status = 'pending' AND expires_at > :now";

const statements = {
  prune: statement('DELETE FROM device_sign_ins WHERE expires_at <= :now'),
  count: statement(
    `SELECT count(*) AS together, count(*) FILTER (WHERE network = :network) AS own FROM device_sign_ins`,
  ),
  displace: statement(
    `DELETE FROM device_sign_ins WHERE hash IN (SELECT hash FROM device_sign_ins WHERE network =
       (SELECT network FROM device_sign_ins GROUP BY network ORDER BY count(*) DESC, min(created_at) LIMIT 1)
       ORDER BY created_at, rowid LIMIT 1)`,
  ),
  insert: statement(
    `INSERT INTO device_sign_ins (hash, network, ${COLUMNS})
       VALUES (:hash, :network, :code, :machine, :address, :created, :expires)`,
  ),
  find: statement(`SELECT ${COLUMNS} FROM device_sign_ins WHERE user_code = :code AND ${WAITS}`),
  decide: statement(
    `UPDATE device_sign_ins SET status = :status, user_id = :user, scopes = :scopes, key_minutes = :minutes
       WHERE user_code = :code AND ${WAITS}`,
  ),
  waits: statement(`SELECT 1 AS waits FROM device_sign_ins WHERE hash = :hash AND ${WAITS}`),
  take: statement(
    `DELETE FROM device_sign_ins WHERE hash = :hash
       RETURNING machine, expires_at, status, user_id, scopes, key_minutes`,
  ),
};

function decode(row: Row): DeviceSignIn {
  return {
    userCode: String(row['user_code']),
    machine: String(row['machine']),
    address: String(row['address']),
    createdAt: Number(row['created_at']),
    expiresAt: Number(row['expires_at']),
  };
}

function answerIn(row: Row): DeviceAnswer {
  if (row['status'] !== 'approved') return { status: 'denied' };
  const grant = {
    userId: String(row['user_id']),
    scopes: scopesIn(row['scopes']),
    keyMinutes: Number(row['key_minutes']),
  };
  return { status: 'approved', machine: String(row['machine']), grant };
}
