/**
 * Deletions of users: their open work ends, their sandboxes and snapshots go, by their own ways or to an heir, and the user at
 * last, with all the rest. The store has each deletion from its beginning, so a process that is killed in between leaves a disabled user,
 * whom the next one goes on deleting.
 */
import { mapBounded } from '../../concurrency/in-portions.ts';
import type { Unfinished } from '../../concurrency/unfinished.ts';
import { auditActions } from '../../model/audit.ts';
import { notFound, SandhavenError } from '../../model/errors.ts';
import { limits } from '../../model/limits.ts';
import type { Snapshot } from '../../model/snapshot.ts';
import type { Account, Caller } from '../../model/user.ts';
import type { AuditService } from '../audit/audit.ts';
import { concernsUser } from '../audit/scope.ts';
import type { SnapshotService } from '../images/snapshots.ts';
import type { Machines } from '../lifecycle/machines.ts';
import type { OwnedByUser, Replicas, Store, UserDeletion } from '../ports/index.ts';
import type { AuthorizationService } from '../provider/authorizations.ts';
import { type Heir, type HeirDependencies, Heirs } from './heirs.ts';
import type { UserService } from './users.ts';

export interface UserDeletionDependencies {
  store: Pick<Store, 'userDeletions'> & { sandboxes: Pick<Store['sandboxes'], 'names'> };
  users: Pick<UserService, 'find' | 'disable'>;
  machines: Pick<Machines, 'command'>;
  snapshots: Pick<SnapshotService, 'list' | 'delete'>;
  heirs: Pick<Heirs, 'accept' | 'give' | 'giveSnapshot'>;
  /** null without a code-hosting provider. */
  authorizations: Pick<AuthorizationService, 'revoke'> | null;
  audit: Pick<AuditService, 'now' | 'note'>;
  replicas: Pick<Replicas, 'isMine' | 'onChange'>;
  unfinished: Pick<Unfinished, 'add'>;
}

export interface ShownDeletion {
  user: Pick<Account, 'id' | 'name' | 'email'>;
  owned: OwnedByUser;
  /** null: sandboxes and snapshots are deleted. */
  heir: Heir | null;
}

const { page, rounds, atOnce } = limits.userDeletion;

export class UserDeletions {
  readonly #deps: UserDeletionDependencies;
  readonly #running = new Map<string, Promise<void>>();

  constructor(dependencies: UserDeletionDependencies) {
    this.#deps = dependencies;
    dependencies.replicas.onChange(() => void this.resume().catch(() => {}));
  }

  /**
   * Returns what would go. Rejects with `failed_precondition` for the caller, and like `Heirs.accept`.
   * @param to The heir's id, email or name.
   */
  async shown(caller: Caller, idOrEmail: string, to?: string): Promise<ShownDeletion> {
    const { store, users, heirs } = this.#deps;
    const { id, name, email } = await users.find(idOrEmail);
    if (id === caller.id) throw oneself();
    const heir = to === undefined ? null : await heirs.accept(id, to);
    return { user: { id, name, email }, owned: await store.userDeletions.owned(id), heir };
  }

  /**
   * Deletes a user with all that they own, but what goes to an heir; one under way keeps its heir, unless another is named.
   * Rejects like `shown` and, with `failed_precondition`, for the last enabled admin and for somebody else's heir,
   * with `unavailable` where something could not be deleted yet: the user is disabled then, and it goes on by itself.
   */
  async delete(caller: Caller, idOrEmail: string, to?: string): Promise<ShownDeletion> {
    const { store, users, audit } = this.#deps;
    const shown = await this.shown(caller, idOrEmail, to);
    const { id } = shown.user;
    concernsUser(id);
    const begun = await store.userDeletions.begin(id, caller.id, audit.now(), shown.heir?.id ?? null);
    if (!begun) throw gone(idOrEmail);
    // After the note: nobody enables the user between the end of open work and the deletion.
    await users.disable(id);
    try {
      await this.#once(begun);
    } catch (error) {
      this.#goOn(begun);
      throw notYet(shown.user.email, error);
    }
    return shown;
  }

  /** Returns the id of a user, also of one who is deleted. Rejects with `not_found`. */
  async idOf(idOrEmail: string): Promise<string> {
    try {
      return (await this.#deps.users.find(idOrEmail)).id;
    } catch (error) {
      const deleted = await this.#deps.store.userDeletions.find(idOrEmail);
      if (deleted) return deleted.id;
      throw error;
    }
  }

  /** Goes on with what an earlier process, or a replica that is gone, has left. */
  async resume(): Promise<void> {
    const left = await this.#deps.store.userDeletions.underWay();
    for (const deletion of left) {
      if (this.#deps.replicas.isMine(`deletion of ${deletion.id}`)) this.#goOn(deletion);
    }
  }

  #goOn(deletion: UserDeletion): void {
    this.#deps.unfinished.add(`delete ${deletion.id}`, async () => {
      await this.#once(deletion);
      // The row of the call that began it may be lost with its process.
      this.#note(deletion, auditActions.userDeleted, deletion.id);
    });
  }

  /** Two who delete one user wait for the same work. */
  #once(deletion: UserDeletion): Promise<void> {
    const running =
      this.#running.get(deletion.id) ??
      this.#carryOut(deletion).finally(() => this.#running.delete(deletion.id));
    this.#running.set(deletion.id, running);
    return running;
  }

  async #carryOut({ id, name, email }: UserDeletion): Promise<void> {
    const { store, snapshots, authorizations, audit } = this.#deps;
    const user = { id, name, email };
    await ignoringGone(authorizations?.revoke(user));
    for (let round = 0; round < rounds; round++) {
      // Another call may have named another heir.
      const deletion = await store.userDeletions.find(id);
      if (!deletion) return;
      const owned = await store.sandboxes.names(id, page);
      await mapBounded(owned, atOnce, (sandbox) => ignoringGone(this.#sandbox(deletion, sandbox.id)));
      const made = await snapshots.list(user, { page: 1, pageSize: page });
      const own = made.snapshots.filter(({ ownerId }) => ownerId === id);
      for (const snapshot of own) await ignoringGone(this.#snapshot(deletion, snapshot));
      // A call that was under way may have added something meanwhile.
      if (await store.userDeletions.finish(id, audit.now())) return;
      if (owned.length + own.length === 0) break;
    }
    throw new SandhavenError('unavailable', 'A sandbox of theirs is still being made.');
  }

  async #sandbox(deletion: UserDeletion, sandboxId: string): Promise<void> {
    const { machines, heirs } = this.#deps;
    const { id, heirId } = deletion;
    if (heirId === null) await machines.command(sandboxId, { type: 'delete' });
    else if (await heirs.give(sandboxId, id, heirId))
      this.#note(deletion, auditActions.sandboxGiven, heirId, sandboxId);
  }

  /** An heir gets no snapshot that is still being made, or has failed. */
  async #snapshot(deletion: UserDeletion, snapshot: Snapshot): Promise<void> {
    const { snapshots, heirs } = this.#deps;
    const { id, name, email, heirId } = deletion;
    if (heirId !== null && (await heirs.giveSnapshot(snapshot, heirId)))
      this.#note(deletion, auditActions.snapshotGiven, heirId);
    else await snapshots.delete({ id, name, email }, snapshot.id);
  }

  /** @param userId Sees the row too. */
  #note({ deletedBy }: UserDeletion, action: string, userId: string, sandboxId: string | null = null): void {
    this.#deps.audit.note(
      {
        action,
        caller: { id: deletedBy, keyId: null },
        origin: { transport: 'service', address: null },
        requestId: null,
      },
      { outcome: 'ok', durationMs: 0, sandboxId, userId },
    );
  }
}

export function createUserDeletions(
  parts: Omit<UserDeletionDependencies, 'heirs'> & HeirDependencies,
): UserDeletions {
  return new UserDeletions({ ...parts, heirs: new Heirs(parts) });
}

async function ignoringGone(work: Promise<unknown> | undefined): Promise<void> {
  try {
    await work;
  } catch (error) {
    if (!(error instanceof SandhavenError) || error.code !== 'not_found') throw error;
  }
}

function oneself(): SandhavenError {
  return new SandhavenError('failed_precondition', 'Nobody deletes their own user.', {
    parameter: 'user',
    hint: 'Another admin does it.',
  });
}

function gone(idOrEmail: string): SandhavenError {
  return notFound(
    'user',
    `There is no user '${idOrEmail}'.`,
    'ListUsers shows the ids and emails there are.',
  );
}

function notYet(email: string, error: unknown): SandhavenError {
  const why = error instanceof SandhavenError ? ` ${error.message}` : '';
  return new SandhavenError('unavailable', `The user ${email} is disabled, and not deleted yet.${why}`, {
    hint: 'The deletion goes on by itself, also after a restart. Repeat it to wait for the end.',
    retryable: true,
  });
}
