/** Changes of a sandbox's row that follow from the state an operation has reached. */
import { describe, expect, it } from 'vitest';
import { consequences } from '../../src/control/lifecycle/consequences.ts';
import type { Operation, SandboxState } from '../../src/model/sandbox.ts';
import { settledSandbox } from '../model/lifecycle-fixtures.ts';

const NOW = 9_000;

const during = (operation: Operation | null, state: SandboxState, overrides = {}) =>
  settledSandbox(state, { operation, generation: 7, ...overrides });

describe('a machine that runs', () => {
  const running = {
    startedAt: NOW,
    lastActivityAt: NOW,
    stoppedAt: null,
    archivedAt: null,
    runGeneration: 7,
  };

  it('has the generation and the time of its start', () => {
    expect(consequences(during('starting', 'stopped'), 'started', NOW)).toEqual(running);
  });

  it('leaves no archive behind when its disk was restored', () => {
    expect(consequences(during('restoring', 'archived'), 'started', NOW)).toEqual({
      ...running,
      archive: null,
    });
  });

  it('keeps its times through a resize', () => {
    expect(consequences(during('resizing', 'started'), 'started', NOW)).toEqual({});
  });

  it('keeps the times of its creation, which the row has already', () => {
    expect(consequences(during('creating', 'started'), 'started', NOW)).toEqual({});
  });
});

describe('a sandbox that stops', () => {
  it('has the time, and runs no generation', () => {
    expect(consequences(during('stopping', 'started'), 'stopped', NOW)).toEqual({
      stoppedAt: NOW,
      runGeneration: null,
    });
    expect(consequences(during(null, 'started'), 'stopped', NOW)).toEqual({
      stoppedAt: NOW,
      runGeneration: null,
    });
  });

  it('keeps the time of its stop when it was stopped before', () => {
    expect(consequences(during('resizing', 'stopped'), 'stopped', NOW)).toEqual({});
  });
});

describe('an archive', () => {
  it('has the time of its first moment', () => {
    expect(consequences(during('archiving', 'stopped'), 'archived', NOW)).toEqual({ archivedAt: NOW });
    expect(consequences(during('stopping', 'error', { archivedAt: 4_000 }), 'archived', NOW)).toEqual({
      archivedAt: 4_000,
    });
  });

  it('is forgotten when archiving does not end, since the disk may change from now on', () => {
    expect(consequences(during('archiving', 'stopped'), 'stopped', NOW)).toEqual({ archive: null });
    expect(consequences(during('archiving', 'stopped'), 'error', NOW)).toEqual({
      archive: null,
      stoppedAt: 5_000,
    });
    expect(consequences(during('archiving', 'stopped', { stoppedAt: null }), 'error', NOW)).toEqual({
      archive: null,
      stoppedAt: NOW,
    });
  });

  it('stays when its restore does not end', () => {
    expect(consequences(during('restoring', 'archived'), 'error', NOW)).toEqual({
      stoppedAt: 5_000,
      runGeneration: null,
    });
  });
});

it('a sandbox in error runs nothing, from now or from its stop', () => {
  expect(consequences(during('starting', 'stopped'), 'error', NOW)).toEqual({
    stoppedAt: 5_000,
    runGeneration: null,
  });
  expect(consequences(during('stopping', 'started'), 'error', NOW)).toEqual({
    stoppedAt: NOW,
    runGeneration: null,
  });
});
