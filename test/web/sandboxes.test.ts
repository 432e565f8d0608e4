/** The list of sandboxes: filters in the address, actions and their losses, the form of a new one. */
import { describe, expect, it } from 'vitest';
import { type Actionable, isAllowed, lossOf, mayBeCopied } from '../../web/src/sandboxes/actions.ts';
import { emptyForm, faultsOf, parametersOf } from '../../web/src/sandboxes/create/form.ts';
import { filtered, type Row, readFilter, stopsAt } from '../../web/src/sandboxes/filter.ts';

const row = (part: Partial<Row>): Row => ({
  id: 'sb_1',
  name: 'box',
  state: 'started',
  labels: {},
  created_at: '2026-01-01T00:00:00Z',
  auto_stop_minutes: 15,
  last_activity_at: '2026-01-01T00:00:00Z',
  ...part,
});

describe('a filter', () => {
  it('is read from the address, whatever stands there', () => {
    expect(readFilter({ name: 12, state: 'started', label: 'team=ml', sort: 'stop', more: 1 })).toEqual({
      name: '12',
      state: 'started',
      label: 'team=ml',
      sort: 'stop',
    });
    expect(readFilter({ whose: 'everybody' })).toEqual({ whose: 'everybody' });
    expect(readFilter({ whose: 'nobody' })).toEqual({});
    expect(readFilter({ name: {}, state: 'running', label: [], sort: '__proto__' })).toEqual({});
  });

  it('finds names and IDs by part, labels by key and by value', () => {
    const rows = [
      row({ id: 'sb_a', name: 'Alpha', labels: { team: 'ml', draft: '' } }),
      row({ id: 'sb_b', name: 'beta 10', labels: { team: 'web' } }),
      row({ id: 'sb_c', name: 'beta 9', state: 'stopped' }),
    ];
    const names = (filter: Parameters<typeof filtered>[1]) => filtered(rows, filter).map(({ name }) => name);
    expect(names({ name: 'ALPHA' })).toEqual(['Alpha']);
    expect(names({ name: 'sb_b' })).toEqual(['beta 10']);
    expect(names({ label: 'team' })).toEqual(['Alpha', 'beta 10']);
    expect(names({ label: 'team=ml, draft' })).toEqual(['Alpha']);
    expect(names({ label: 'constructor' })).toEqual([]);
    expect(names({ state: 'stopped' })).toEqual(['beta 9']);
    expect(names({ sort: 'name' })).toEqual(['Alpha', 'beta 9', 'beta 10']);
  });

  it('puts first what stops first, and last what never does', () => {
    const rows = [
      row({ name: 'never', auto_stop_minutes: 0 }),
      row({ name: 'late', auto_stop_minutes: 60 }),
      row({ name: 'soon', auto_stop_minutes: 5 }),
      row({ name: 'stopped', state: 'stopped' }),
    ];
    expect(filtered(rows, { sort: 'stop' }).map(({ name }) => name)).toEqual([
      'soon',
      'late',
      'never',
      'stopped',
    ]);
    expect(stopsAt(row({}))).toBe(Date.parse('2026-01-01T00:15:00Z'));
  });

  it('takes a deadline for the time of a stop where it comes first, and only in a started sandbox', () => {
    const deadline_at = '2026-01-01T00:10:00Z';
    const at = Date.parse(deadline_at);
    expect(stopsAt(row({ deadline_at }))).toBe(at);
    expect(stopsAt(row({ deadline_at, auto_stop_minutes: 0 }))).toBe(at);
    expect(stopsAt(row({ deadline_at, auto_stop_minutes: 5 }))).toBe(Date.parse('2026-01-01T00:05:00Z'));
    expect(stopsAt(row({ deadline_at, state: 'stopped' }))).toBeNull();
  });
});

const one = (part: Partial<Actionable>): Actionable => ({
  id: 'sb_1',
  name: 'box',
  state: 'started',
  ephemeral: false,
  auto_delete_minutes: -1,
  resources: { disk: 20 },
  ...part,
});

describe('actions', () => {
  it.each([
    ['start', 'started', false],
    ['start', 'error', true],
    ['start', 'archived', true],
    ['stop', 'started', true],
    ['stop', 'stopped', false],
    ['archive', 'stopped', true],
    ['archive', 'started', false],
    ['delete', 'archived', true],
  ] as const)('%s on %s: %s', (action, state, allowed) => {
    expect(isAllowed(action, one({ state }))).toBe(allowed);
  });

  it('pause what is awake, and wake what sleeps', () => {
    const asleep_since = '2026-01-01T00:00:00Z';
    expect(isAllowed('pause', one({}))).toBe(true);
    expect(isAllowed('pause', one({ asleep_since }))).toBe(false);
    expect(isAllowed('pause', one({ state: 'stopped' }))).toBe(false);
    expect(isAllowed('resume', one({ asleep_since }))).toBe(true);
    expect(isAllowed('resume', one({}))).toBe(false);
  });

  it('wait for an operation that is under way, a deletion aside', () => {
    expect(isAllowed('stop', one({ operation: 'resizing' }))).toBe(false);
    expect(isAllowed('delete', one({ operation: 'resizing' }))).toBe(true);
    expect(isAllowed('delete', one({ operation: 'deleting' }))).toBe(false);
  });

  it('copy what is whole and at rest', () => {
    for (const state of ['started', 'stopped', 'archived'] as const)
      expect(mayBeCopied({ state })).toBe(true);
    expect(mayBeCopied({ state: 'error' })).toBe(false);
    expect(mayBeCopied({ state: 'started', operation: 'stopping' })).toBe(false);
  });

  it('name what is lost: by a deletion everything, by a stop what it deletes', () => {
    const chosen = [one({}), one({ ephemeral: true }), one({ auto_delete_minutes: 0 })];
    expect(lossOf('delete', chosen)).toMatchObject({ lost: chosen, diskGb: 60 });
    expect(lossOf('stop', chosen)).toMatchObject({ lost: chosen.slice(1), diskGb: 40, interrupted: chosen });
    expect(lossOf('archive', [one({ state: 'stopped' })])).toEqual({ lost: [], diskGb: 0, interrupted: [] });
  });
});

describe('the form of a new sandbox', () => {
  it('gives the parameters of CreateSandbox', () => {
    expect(parametersOf(emptyForm)).toEqual({
      ...{ language: 'python', cpu: 2, memory_gb: 4, disk_gb: 20, gpu: 0, auto_stop_minutes: 15 },
    });
    const form = {
      ...emptyForm,
      name: ' demo ',
      source: 'image',
      image: 'debian:13',
      labels: 'team=ml',
    } as const;
    expect(parametersOf({ ...form, env_vars: 'A=b', user: ' ann ', ephemeral: true, cpu: '3' })).toEqual({
      ...{ name: 'demo', language: 'python', image: 'debian:13', cpu: 3, memory_gb: 4, disk_gb: 20, gpu: 0 },
      ...{ auto_stop_minutes: 15, user: 'ann', ephemeral: true },
      ...{ labels: { team: 'ml' }, env_vars: { A: 'b' } },
    });
  });

  it('leaves the sizes to a snapshot', () => {
    expect(parametersOf({ ...emptyForm, source: 'snapshot', snapshot: 'mine' })).toEqual({
      ...{ language: 'python', snapshot: 'mine', auto_stop_minutes: 15 },
    });
  });

  it('names the field at fault', () => {
    expect(faultsOf(emptyForm)).toEqual({});
    const wrong = { ...emptyForm, name: 'sb_x', cpu: 17, memory_gb: '', disk_gb: 1.5, env_vars: 'A' };
    expect(Object.keys(faultsOf(wrong))).toEqual(['name', 'cpu', 'memory_gb', 'disk_gb', 'env_vars']);
    expect(Object.keys(faultsOf({ ...emptyForm, source: 'image' }))).toEqual(['image']);
    expect(Object.keys(faultsOf({ ...emptyForm, source: 'snapshot' }))).toEqual(['snapshot']);
  });
});
