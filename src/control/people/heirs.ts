/**
 * Heirs of deleted users: a user or a team that gets sandboxes and snapshots. Files, environment variables, labels, logs of
 * sessions and settings go along; secrets and ways in do not. A running sandbox runs on, within the heir's network.
 */

import { notFound, SandhavenError } from '../../model/errors.ts';
import { isTeamId } from '../../model/ids.ts';
import { limits } from '../../model/limits.ts';
import { assertWithinQuota } from '../../model/quota.ts';
import { waysInside } from '../../model/sandbox-access.ts';
import type { Snapshot } from '../../model/snapshot.ts';
import type { AccessService } from '../access/tokens.ts';
import type { Quotas } from '../callers/quotas.ts';
import type { SnapshotService } from '../images/snapshots.ts';
import type { Machines } from '../lifecycle/machines.ts';
import type { Learning } from '../network/learning.ts';
import type { Store } from '../ports/index.ts';

export interface HeirDependencies {
  store: Pick<Store, 'userDeletions'> & {
    users: Pick<Store['users'], 'findUser'>;
    teams: Pick<Store['teams'], 'find'>;
    gitCredentials: Pick<Store['gitCredentials'], 'remove'>;
  };
  quotas: Pick<Quotas, 'allowance' | 'usage'>;
  machines: Pick<Machines, 'command' | 'change' | 'recall'>;
  snapshots: Pick<SnapshotService, 'give'>;
  /** Tokens of the gateways. */
  access: Pick<AccessService, 'revoke'>;
  learning: Pick<Learning, 'end'>;
  /** true: the operator lets admins read inside everybody's sandboxes. */
  adminsReadInside: boolean;
}

export interface Heir {
  id: string;
  /** Email of a user, name of a team. */
  name: string;
}

export class Heirs {
  readonly #deps: HeirDependencies;

  constructor(dependencies: HeirDependencies) {
    this.#deps = dependencies;
  }

  /**
   * Returns the one who may have all that the user owns. Rejects before anything happens: with `permission_denied` where admins
   * may not read inside, with `not_found`, with `failed_precondition` for one who can use nothing, with `resource_exhausted`
   * without room, with `already_exists` for names that both use.
   */
  async accept(userId: string, wanted: string): Promise<Heir> {
    if (!this.#deps.adminsReadInside) throw notAllowed();
    const heir = await this.#find(wanted);
    if (heir.id === userId) throw unfit('Nobody gets what they own by their own deletion.');
    await this.#assertRoom(userId, heir);
    const taken = await this.#deps.store.userDeletions.taken(userId, heir.id, SHOWN_NAMES + 1);
    if (taken.length > 0) throw namesTaken(heir, taken);
    return heir;
  }

  /** Gives a sandbox, in its turn; one that is being deleted is deleted. Returns false for that one. */
  async give(id: string, userId: string, heirId: string): Promise<boolean> {
    const { machines, quotas, learning } = this.#deps;
    await this.#endAccess(id);
    const allowance = await quotas.allowance(heirId);
    const given = await machines.change(
      id,
      ({ operation, ownerId, name }) =>
        operation === 'deleting' || ownerId !== userId
          ? null
          : { ownerId: heirId, name, secretIds: [], creationKey: null },
      async (sandbox) => {
        if (sandbox.ownerId !== heirId) return;
        // Once more: a call that was under way may have made a token meanwhile.
        await this.#endAccess(id);
        learning.end(id);
        // A process that is killed before this does it when it adopts the machine.
        if (sandbox.state === 'started') await machines.recall(sandbox);
      },
      allowance,
    );
    if (given.ownerId !== userId) return true;
    await machines.command(id, { type: 'delete' });
    return false;
  }

  /** Gives a snapshot; false leaves one that is not active. */
  async giveSnapshot(snapshot: Snapshot, heirId: string): Promise<boolean> {
    const { quotas, snapshots } = this.#deps;
    return snapshots.give(snapshot, await quotas.allowance(heirId));
  }

  async #find(wanted: string): Promise<Heir> {
    const { users, teams } = this.#deps.store;
    const user = await users.findUser(wanted);
    const team = user ? null : await teams.find(wanted);
    if (team) return { id: team.id, name: team.name };
    if (!user) throw noHeir(wanted);
    const { id, email, role, disabledAt } = user;
    if (role !== 'viewer' && disabledAt === null) return { id, name: email };
    const why = disabledAt === null ? 'a viewer, and would change nothing' : 'disabled';
    throw unfit(`The user ${email} is ${why}.`);
  }

  /** All of the user's snapshots count, also those that will be deleted as they are not active. */
  async #assertRoom(userId: string, heir: Heir): Promise<void> {
    const { quotas } = this.#deps;
    const [used, more] = [await quotas.usage(heir.id), await quotas.usage(userId)];
    const { quota } = await quotas.allowance(heir.id);
    const after = {
      ...{ sandboxes: used.sandboxes + more.sandboxes, cpu: used.cpu + more.cpu },
      ...{ memory: used.memory + more.memory, disk: used.disk + more.disk },
      snapshots: used.snapshots + more.snapshots,
    };
    const { perOwner } = limits.snapshot;
    try {
      assertWithinQuota(quota, used, after);
    } catch (error) {
      throw error instanceof SandhavenError ? noRoom(heir, error.message) : error;
    }
    if (after.snapshots > perOwner) throw noRoom(heir, `Nobody has more than ${perOwner} snapshots.`);
  }

  async #endAccess(id: string): Promise<void> {
    await this.#deps.access.revoke(id, waysInside);
    await this.#deps.store.gitCredentials.remove(id);
  }
}

const SHOWN_NAMES = 5;

function notAllowed(): SandhavenError {
  return new SandhavenError(
    'permission_denied',
    'Admins may not read inside here, so nothing of a user goes to somebody else: whoever receives it reads inside.',
    {
      parameter: 'to',
      hint: 'The operator allows it with `up --admins-read-inside yes`; without `to` all is deleted.',
    },
  );
}

function noHeir(wanted: string): SandhavenError {
  return notFound(
    'user',
    `There is no user and no team '${wanted}'.`,
    'ListUsers and ListTeams show who is there.',
  );
}

function unfit(detail: string): SandhavenError {
  const hint = 'Name an enabled user who is no viewer, or a team.';
  return new SandhavenError('failed_precondition', detail, { parameter: 'to', hint });
}

function noRoom({ id, name }: Heir, why: string): SandhavenError {
  const action = isTeamId(id) ? 'UpdateTeam' : 'UpdateUser';
  return new SandhavenError('resource_exhausted', `${name} has no room for all that goes there. ${why}`, {
    parameter: 'to',
    hint: `Raise the quota with ${action}, or name another one.`,
  });
}

function namesTaken({ name }: Heir, taken: readonly string[]): SandhavenError {
  const more = taken.length > SHOWN_NAMES ? ' and others' : '';
  return new SandhavenError(
    'already_exists',
    `${name} has some of these names already: ${taken.slice(0, SHOWN_NAMES).join(', ')}${more}.`,
    {
      parameter: 'to',
      hint: 'Names are those of one owner alone. Delete one of the two, or name another receiver.',
    },
  );
}
