/** Teams as rows of `users`, and their members. Every method that writes has committed when its promise resolves. */
import type { Page, TeamPatch, TeamStore } from '../../control/ports/index.ts';
import { SandhavenError } from '../../model/errors.ts';
import { limits } from '../../model/limits.ts';
import type { Membership, Team, TeamMember, TeamRole } from '../../model/team.ts';
import { type Dialect, type Row, type Sql, type SqlValues, statement, type Work } from '../sql/sql.ts';
import { quotaIn } from './users.ts';

export class TeamRows implements TeamStore {
  readonly #sql: Sql;
  readonly #statements: ReturnType<typeof prepare>;

  constructor(sql: Sql) {
    this.#sql = sql;
    this.#statements = prepare(sql.dialect);
  }

  async insert(team: Team): Promise<void> {
    const { count, insert } = this.#statements;
    await this.#refusingTakenName(() =>
      this.#sql.write('teams', function* () {
        yield* assertRoom(
          count.get({ user: null }),
          limits.teams.most,
          'teams',
          'Delete one that is not needed.',
        );
        yield* insert.run(encode(team));
      }),
    );
  }

  async find(idOrName: string): Promise<Team | null> {
    return one(await this.#sql.read(() => this.#statements.find.get({ wanted: idOrName })));
  }

  async list(
    userId: string | null,
    { page, pageSize }: Page,
  ): Promise<{ teams: Team[]; totalCount: number }> {
    const { list, count } = this.#statements;
    const window = { offset: (page - 1) * pageSize, limit: pageSize };
    return this.#sql.readTogether(function* () {
      const teams = (yield* list.all({ user: userId, ...window })).map(decode);
      return { teams, totalCount: Number((yield* count.get({ user: userId }))?.['count']) };
    });
  }

  async update(id: string, change: (team: Team) => TeamPatch): Promise<Team | null> {
    const { find, update } = this.#statements;
    return this.#refusingTakenName(() =>
      this.#sql.write('teams', function* () {
        const team = one(yield* find.get({ wanted: id }));
        if (!team) return null;
        const changed = { ...team, ...change(team) };
        yield* update.run({ id, name: changed.name, quota: JSON.stringify(changed.quota) });
        return changed;
      }),
    );
  }

  async remove(id: string): Promise<boolean> {
    const { owned, forgetAnswers, remove } = this.#statements;
    return this.#sql.write('teams', function* () {
      const row = yield* owned.get({ id });
      const [sandboxes, snapshots] = [Number(row?.['sandboxes']), Number(row?.['snapshots'])];
      if (sandboxes + snapshots > 0) throw ownsSomething(sandboxes, snapshots);
      yield* forgetAnswers.run({ id });
      return (yield* remove.run({ id })) === 1;
    });
  }

  async members(id: string): Promise<TeamMember[]> {
    return (await this.#sql.read(() => this.#statements.members.all({ id }))).map(memberIn);
  }

  async setMember(id: string, userId: string, role: TeamRole, now: number): Promise<TeamRole | null> {
    const { roleOf, membersOf, count, setMember } = this.#statements;
    return this.#sql.write('teams', function* () {
      const before = yield* roleOf.get({ id, user: userId });
      if (!before) {
        const { members, perUser } = limits.teams;
        yield* assertRoom(membersOf.get({ id }), members, 'members in this team', 'Remove one first.');
        yield* assertRoom(
          count.get({ user: userId }),
          perUser,
          'teams of this user',
          'Remove the user from one.',
        );
      }
      yield* setMember.run({ id, user: userId, role, now });
      return before ? (before['role'] as TeamRole) : null;
    });
  }

  async removeMember(id: string, userId: string): Promise<boolean> {
    return (await this.#sql.writeOne(() => this.#statements.removeMember.run({ id, user: userId }))) === 1;
  }

  async membership(idOrName: string, userId: string): Promise<Membership | null> {
    const { membership } = this.#statements;
    const row = await this.#sql.read(() => membership.get({ wanted: idOrName, user: userId }), userId);
    return row ? { id: String(row['id']), name: String(row['name']), role: row['role'] as TeamRole } : null;
  }

  async #refusingTakenName<T>(work: () => Promise<T>): Promise<T> {
    try {
      return await work();
    } catch (error) {
      if (!this.#sql.isDuplicate(error, 'columns')) throw error;
      throw new SandhavenError('already_exists', 'There is a team with this name already.', {
        parameter: 'name',
        hint: 'Give another name, or update that team.',
      });
    }
  }
}

function prepare({ equalsIgnoringCase }: Dialect) {
  const columns = 'id, name, created_at, quota';
  const wanted = (table: string) =>
    `${table}.kind = 'team' AND (${table}.id = :wanted OR ${equalsIgnoringCase(`${table}.name`, ':wanted')})`;
  const listed = `kind = 'team'
    AND (id IN (SELECT team_id FROM team_members WHERE user_id = :user) OR :user IS NULL)`;
  return {
    insert: statement(
      `INSERT INTO users (id, name, email, role, created_at, quota, kind)
         VALUES (:id, :name, :id, 'member', :created, :quota, 'team')`,
    ),
    find: statement(`SELECT ${columns} FROM users WHERE ${wanted('users')}`),
    list: statement(
      `SELECT ${columns} FROM users WHERE ${listed} ORDER BY sequence LIMIT :limit OFFSET :offset`,
    ),
    count: statement(`SELECT count(*) AS count FROM users WHERE ${listed}`),
    update: statement(`UPDATE users SET name = :name, quota = :quota WHERE id = :id AND kind = 'team'`),
    owned: statement(
      `SELECT (SELECT count(*) FROM sandboxes WHERE owner_id = :id) AS sandboxes,
              (SELECT count(*) FROM snapshots WHERE owner_id = :id) AS snapshots`,
    ),
    forgetAnswers: statement('DELETE FROM idempotency WHERE owner_id = :id'),
    remove: statement(`DELETE FROM users WHERE id = :id AND kind = 'team'`),
    members: statement(
      `SELECT user_id, name, email, team_members.role, added_at FROM team_members
         JOIN users ON users.id = user_id WHERE team_id = :id ORDER BY added_at, user_id`,
    ),
    membersOf: statement('SELECT count(*) AS count FROM team_members WHERE team_id = :id'),
    roleOf: statement('SELECT role FROM team_members WHERE team_id = :id AND user_id = :user'),
    setMember: statement(
      `INSERT INTO team_members (team_id, user_id, role, added_at) VALUES (:id, :user, :role, :now)
         ON CONFLICT (team_id, user_id) DO UPDATE SET role = excluded.role`,
    ),
    removeMember: statement('DELETE FROM team_members WHERE team_id = :id AND user_id = :user'),
    membership: statement(
      `SELECT users.id, users.name, team_members.role FROM team_members
         JOIN users ON users.id = team_id WHERE user_id = :user AND ${wanted('users')}`,
    ),
  };
}

function* assertRoom(
  counting: Work<Row | undefined>,
  most: number,
  things: string,
  hint: string,
): Work<void> {
  if (Number((yield* counting)?.['count']) < most) return;
  throw new SandhavenError('resource_exhausted', `There are ${most} ${things} already.`, { hint });
}

function ownsSomething(sandboxes: number, snapshots: number): SandhavenError {
  return new SandhavenError(
    'failed_precondition',
    `The team owns ${sandboxes} sandboxes and ${snapshots} snapshots.`,
    {
      parameter: 'team',
      hint: 'A member deletes them first; admins delete sandboxes with DeleteAnySandbox.',
    },
  );
}

function encode({ id, name, createdAt, quota }: Team): SqlValues {
  return { id, name, created: createdAt, quota: JSON.stringify(quota) };
}

function one(row: Row | undefined): Team | null {
  return row ? decode(row) : null;
}

function decode(row: Row): Team {
  const { id, name, created_at: createdAt, quota } = row;
  return { id: String(id), name: String(name), createdAt: Number(createdAt), quota: quotaIn(quota) };
}

function memberIn(row: Row): TeamMember {
  const { user_id: userId, name, email, role, added_at: addedAt } = row;
  return {
    ...{ userId: String(userId), name: String(name), email: String(email) },
    ...{ role: role as TeamRole, addedAt: Number(addedAt) },
  };
}
