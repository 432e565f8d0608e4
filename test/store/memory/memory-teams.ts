/** Teams in the plainest way there is. */
import type { Store } from '../../../src/control/ports/index.ts';
import { SandhavenError } from '../../../src/model/errors.ts';
import { limits } from '../../../src/model/limits.ts';
import type { Team, TeamMember } from '../../../src/model/team.ts';
import type { Account } from '../../../src/model/user.ts';

/** Counts of what a team owns. */
export type Owned = (teamId: string) => { sandboxes: number; snapshots: number };

type Seat = Pick<TeamMember, 'userId' | 'role' | 'addedAt'>;

/** @param removed Called with the id of a team that is gone. */
export function memoryTeams(
  users: Map<string, Account>,
  owned: Owned,
  removed: (teamId: string) => void,
): Pick<Store, 'teams'> {
  const teams = new Map<string, Team & { seats: Seat[] }>();
  const same = (one: string, other: string) => one.toLowerCase() === other.toLowerCase();
  const find = (wanted: string) =>
    teams.get(wanted) ?? [...teams.values()].find(({ name }) => same(name, wanted)) ?? null;
  const plain = ({ id, name, createdAt, quota }: Team): Team =>
    structuredClone({ id, name, createdAt, quota });
  const assertFree = (team: Team) => {
    const taken = [...teams.values()].some(({ id, name }) => id !== team.id && same(name, team.name));
    if (taken) throw new SandhavenError('already_exists', 'taken');
  };
  const of = (userId: string) =>
    [...teams.values()].filter(({ seats }) => seats.some((seat) => seat.userId === userId));
  const assertRoom = (used: number, most: number) => {
    if (used >= most) throw new SandhavenError('resource_exhausted', 'full');
  };
  return {
    teams: {
      insert: async (team) => {
        assertRoom(teams.size, limits.teams.most);
        assertFree(team);
        teams.set(team.id, { ...plain(team), seats: [] });
      },
      find: async (wanted) => {
        const team = find(wanted);
        return team && plain(team);
      },
      list: async (userId, { page, pageSize }) => {
        const all = userId === null ? [...teams.values()] : of(userId);
        return {
          teams: all.slice((page - 1) * pageSize, page * pageSize).map(plain),
          totalCount: all.length,
        };
      },
      update: async (id, change) => {
        const team = teams.get(id);
        if (!team) return null;
        const changed = { ...team, ...change(plain(team)) };
        assertFree(changed);
        teams.set(id, changed);
        return plain(changed);
      },
      remove: async (id) => {
        const { sandboxes, snapshots } = owned(id);
        if (sandboxes + snapshots > 0) throw new SandhavenError('failed_precondition', 'owns something');
        const wasThere = teams.delete(id);
        if (wasThere) removed(id);
        return wasThere;
      },
      members: async (id) => {
        const seats = (teams.get(id)?.seats ?? []).toSorted(
          (a, b) => a.addedAt - b.addedAt || (a.userId < b.userId ? -1 : 1),
        );
        return seats.flatMap((seat) => {
          const user = users.get(seat.userId);
          return user ? [{ ...seat, name: user.name, email: user.email }] : [];
        });
      },
      setMember: async (id, userId, role, now) => {
        const team = teams.get(id);
        if (!team || !users.has(userId)) throw new Error('no such team, or no such user');
        const seat = team.seats.find((one) => one.userId === userId);
        const before = seat?.role ?? null;
        if (seat) seat.role = role;
        else {
          assertRoom(team.seats.length, limits.teams.members);
          assertRoom(of(userId).length, limits.teams.perUser);
          team.seats.push({ userId, role, addedAt: now });
        }
        return before;
      },
      removeMember: async (id, userId) => {
        const team = teams.get(id);
        const at = team?.seats.findIndex((seat) => seat.userId === userId) ?? -1;
        return at !== -1 && team?.seats.splice(at, 1).length === 1;
      },
      membership: async (wanted, userId) => {
        const team = find(wanted);
        const seat = team?.seats.find((one) => one.userId === userId);
        return team && seat ? { id: team.id, name: team.name, role: seat.role } : null;
      },
    },
  };
}
