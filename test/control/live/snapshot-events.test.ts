/** Changes of snapshots: who hears of them, at this replica and at others. */
import { beforeEach, describe, expect, it } from 'vitest';
import { SnapshotEvents } from '../../../src/control/live/snapshot-events.ts';
import type { Replicas } from '../../../src/control/ports/index.ts';
import type { Snapshot } from '../../../src/model/snapshot.ts';
import type { User } from '../../../src/model/user.ts';
import { alice, bob } from '../../store/fixtures.ts';

const team = { id: 'team_0000000000000001', name: 'red', role: 'member' as const };

function snapshot(id: string, ownerId = alice.id, state: Snapshot['state'] = 'pulling'): Snapshot {
  return { id, ownerId, state, name: id } as Snapshot;
}

let rows: Map<string, Snapshot>;
let one: SnapshotEvents;
let two: SnapshotEvents;

beforeEach(() => {
  rows = new Map();
  [one, two] = linked();
});

/** Two replicas, each of which hears the other. */
function linked(): [SnapshotEvents, SnapshotEvents] {
  const hear: ((text: string) => void)[] = [];
  const replica = (own: number): Pick<Replicas, 'tell' | 'onTold'> => ({
    tell: (_topic, text) => hear[1 - own]?.(text),
    onTold: (_topic, listener) => {
      hear[own] = listener;
    },
  });
  const log = { info() {}, warn() {}, error() {} };
  const store = { find: async (_owner: string, id: string) => rows.get(id) ?? null };
  const events = (own: number) => new SnapshotEvents({ store, replicas: replica(own), log });
  return [events(0), events(1)];
}

function heard(events: SnapshotEvents, user: User) {
  const notes: unknown[] = [];
  const end = events.follow(user, {
    snapshotChanged: ({ id, state }) => void notes.push([id, state]),
    snapshotGone: (id) => void notes.push([id, 'gone']),
    snapshotProgress: (id, { message }) => void notes.push([id, message]),
  });
  return { notes, end };
}

describe('changes of snapshots', () => {
  it('come to those who follow their owner, until they leave', () => {
    const [own, other, ofTeam] = [heard(one, alice), heard(one, bob), heard(one, { ...bob, team })];
    one.changed(snapshot('s1'));
    one.changed(snapshot('s2', team.id));
    one.gone(snapshot('s1'));
    own.end();
    one.changed(snapshot('s3'));
    expect(own.notes).toEqual([
      ['s1', 'pulling'],
      ['s1', 'gone'],
    ]);
    expect(ofTeam.notes).toEqual([['s2', 'pulling']]);
    expect(other.notes).toEqual([]);
  });

  it('come from other replicas as their rows are then', async () => {
    const there = heard(two, alice);
    rows.set('s1', snapshot('s1', alice.id, 'active'));
    one.changed(snapshot('s1'));
    await expect.poll(() => there.notes).toEqual([['s1', 'active']]);
    rows.delete('s1');
    one.gone(snapshot('s1'));
    await expect.poll(() => there.notes).toHaveLength(2);
    expect(there.notes[1]).toEqual(['s1', 'gone']);
  });

  it('have progress, at other replicas too', () => {
    const [here, there] = [heard(one, alice), heard(two, alice)];
    one.progress(snapshot('s1'), { message: 'a' });
    one.progress(snapshot('s2'), { message: 'b' });
    const expected = [
      ['s1', 'a'],
      ['s2', 'b'],
    ];
    expect(here.notes).toEqual(expected);
    expect(there.notes).toEqual(expected);
  });
});
