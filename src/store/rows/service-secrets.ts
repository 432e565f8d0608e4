/** Secrets of the service as rows, sealed. A row is written once. */
import type { ServiceSecretStore } from '../../control/ports/index.ts';
import type { Secrets } from '../secrets.ts';
import { type Sql, statement } from '../sql/sql.ts';

export class ServiceSecretRows implements ServiceSecretStore {
  readonly #sql: Sql;
  readonly #secrets: Secrets;

  constructor(sql: Sql, secrets: Secrets) {
    this.#sql = sql;
    this.#secrets = secrets;
  }

  async getOrCreate(name: string, make: () => string): Promise<string> {
    const row = (await this.#sql.read(() => statements.get.get({ name }))) ?? (await this.#add(name, make()));
    return this.#secrets.open(row?.['box'], placeOf(name));
  }

  /** Returns the row that is there then. */
  async #add(name: string, secret: string) {
    const box = this.#secrets.seal(secret, placeOf(name));
    return this.#sql.write('service secrets', function* () {
      yield* statements.add.run({ name, box });
      return yield* statements.get.get({ name });
    });
  }
}

const statements = {
  get: statement('SELECT box FROM service_secrets WHERE name = :name'),
  add: statement(
    'INSERT INTO service_secrets (name, box) VALUES (:name, :box) ON CONFLICT (name) DO NOTHING',
  ),
};

function placeOf(name: string) {
  return { table: 'service_secrets', row: name, column: 'box' };
}
