/** What time alone does to a sandbox, and when. */
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { decide, nextDeadline } from '../../src/model/lifecycle.ts';
import { type Operation, type Sandbox, sandboxStates } from '../../src/model/sandbox.ts';
import { deadlineOf, withoutPassedStop } from '../../src/model/sleep.ts';
import { settledSandbox } from './lifecycle-fixtures.ts';

const AUTO_MINUTES_MAX = 5_256_000;
const ARCHIVE_MINUTES_MAX = 43_200;

const MINUTE = 60_000;
const time = fc.integer({ min: 0, max: 4_102_444_800_000 });

const settings = fc.record({
  autoStopMinutes: fc.integer({ min: 0, max: AUTO_MINUTES_MAX }),
  autoArchiveMinutes: fc.integer({ min: 0, max: ARCHIVE_MINUTES_MAX }),
  autoDeleteMinutes: fc.oneof(fc.constant(-1), fc.integer({ min: 0, max: AUTO_MINUTES_MAX })),
  lastActivityAt: time,
});
const started = settings.map((values) => settledSandbox('started', values));
const stopped = fc
  .tuple(settings, time)
  .map(([values, stoppedAt]) => settledSandbox('stopped', { ...values, stoppedAt }));
const any = fc
  .tuple(fc.constantFrom(...sandboxStates), settings, time)
  .map(([state, values, at]) =>
    settledSandbox(state, { ...values, stoppedAt: state === 'started' ? null : at }),
  );

describe('a started sandbox', () => {
  it('[SBX-AUTO-01, SBX-AUTO-02] stops auto_stop_minutes after its last activity, 0 never', () => {
    fc.assert(
      fc.property(started, (sandbox) => {
        const { autoStopMinutes, lastActivityAt } = sandbox;
        expect(nextDeadline(sandbox)).toEqual(
          autoStopMinutes === 0 ? null : { command: 'stop', at: lastActivityAt + autoStopMinutes * MINUTE },
        );
      }),
    );
    expect(nextDeadline(settledSandbox('started', { autoStopMinutes: 0 }))).toBeNull();
  });

  it('[WIRE-AUTO-06] stops later for later activity, never earlier', () => {
    fc.assert(
      fc.property(started, fc.nat(), (sandbox, later) => {
        const then = nextDeadline({ ...sandbox, lastActivityAt: sandbox.lastActivityAt + later });
        const now = nextDeadline(sandbox);
        expect(then?.at).toBe(now === null ? undefined : now.at + later);
      }),
    );
  });
});

describe('a stopped sandbox', () => {
  it('[SBX-AUTO-03, SBX-AUTO-05, SBX-AUTO-07] is archived or deleted, whichever comes first', () => {
    fc.assert(
      fc.property(stopped, (sandbox) => {
        const { autoDeleteMinutes, stoppedAt } = sandbox;
        const archiveMinutes = sandbox.autoArchiveMinutes === 0 ? 43_200 : sandbox.autoArchiveMinutes;
        const deletes = autoDeleteMinutes >= 0 && autoDeleteMinutes <= archiveMinutes;
        expect(nextDeadline(sandbox)).toEqual({
          command: deletes ? 'delete' : 'archive',
          at: (stoppedAt ?? 0) + (deletes ? autoDeleteMinutes : archiveMinutes) * MINUTE,
        });
      }),
    );
  });

  it('[SBX-AUTO-04, WIRE-AUTO-02] is archived after 30 days when auto_archive_minutes is 0', () => {
    const sandbox = settledSandbox('stopped', { autoArchiveMinutes: 0, stoppedAt: 5 });
    expect(nextDeadline(sandbox)).toEqual({ command: 'archive', at: 5 + 30 * 24 * 60 * MINUTE });
  });

  it('[WIRE-AUTO-05] is due for deletion at once when auto_delete_minutes is 0', () => {
    const sandbox = settledSandbox('stopped', { autoDeleteMinutes: 0, stoppedAt: 5 });
    expect(nextDeadline(sandbox)).toEqual({ command: 'delete', at: 5 });
  });

  it('is deleted rather than archived when both are due at one time', () => {
    const sandbox = settledSandbox('stopped', {
      autoDeleteMinutes: 60,
      autoArchiveMinutes: 60,
      stoppedAt: 0,
    });
    expect(nextDeadline(sandbox)?.command).toBe('delete');
  });
});

describe('an archived sandbox', () => {
  it('[SBX-AUTO-05] is still deleted when the time since its stop is over, and not archived again', () => {
    const archived = settledSandbox('archived', { autoDeleteMinutes: 60, stoppedAt: 5 });
    expect(nextDeadline(archived)).toEqual({ command: 'delete', at: 5 + 60 * MINUTE });
    expect(nextDeadline({ ...archived, autoDeleteMinutes: -1 })).toBeNull();
  });
});

describe('any sandbox', () => {
  it('has no deadline while an operation is in progress', () => {
    const operations = fc.constantFrom<Operation>('starting', 'stopping', 'archiving', 'restoring');
    fc.assert(
      fc.property(any, operations, (sandbox, operation) => {
        expect(nextDeadline({ ...sandbox, operation })).toBeNull();
      }),
    );
  });

  it('is asked by time only for what is allowed in its state', () => {
    fc.assert(
      fc.property(any, (sandbox: Sandbox) => {
        const deadline = nextDeadline(sandbox);
        if (deadline) expect(decide(sandbox, { type: deadline.command }).kind).toBe('begin');
      }),
    );
  });

  it('has a deadline that is an exact number and not before the time it counts from', () => {
    fc.assert(
      fc.property(any, (sandbox: Sandbox) => {
        const deadline = nextDeadline(sandbox);
        if (!deadline) return;
        const from = sandbox.state === 'started' ? sandbox.lastActivityAt : (sandbox.stoppedAt ?? 0);
        expect(Number.isSafeInteger(deadline.at)).toBe(true);
        expect(deadline.at).toBeGreaterThanOrEqual(from);
      }),
    );
  });

  it('[SBX-AUTO-02, SBX-AUTO-07] is left alone by time when nothing is switched on', () => {
    const off = { autoStopMinutes: 0, autoDeleteMinutes: -1 };
    for (const state of ['started', 'archived', 'error'] as const) {
      expect(nextDeadline(settledSandbox(state, off)), state).toBeNull();
    }
  });
});

it('a sandbox in error waits for a person, whatever its settings and its last stop', () => {
  const settings = { autoArchiveMinutes: 1, autoDeleteMinutes: 0, stoppedAt: 5_000 };
  expect(nextDeadline(settledSandbox('error', settings))).toBeNull();
  expect(nextDeadline(settledSandbox('stopped', settings))).toEqual({ command: 'delete', at: 5_000 });
});

it('a stopped sandbox without the time of its stop has no deadline', () => {
  const settings = { autoArchiveMinutes: 1, autoDeleteMinutes: 1, stoppedAt: null };
  expect(nextDeadline(settledSandbox('stopped', settings))).toBeNull();
});

describe('a deadline of its own', () => {
  const stop = { at: 7_000, action: 'stop' } as const;
  const remove = { at: 7_000, action: 'delete' } as const;

  it('that deletes counts in every state, in error too', () => {
    for (const state of ['started', 'stopped', 'archived', 'error'] as const)
      expect(deadlineOf(settledSandbox(state, { deadline: remove })), state).toEqual(remove);
  });

  it('that stops counts while the sandbox is started', () => {
    expect(deadlineOf(settledSandbox('started', { deadline: stop }))).toEqual(stop);
    for (const state of ['stopped', 'archived', 'error'] as const)
      expect(deadlineOf(settledSandbox(state, { deadline: stop })), state).toBeNull();
  });

  it('waits for the operation in progress, and is none where none is set', () => {
    expect(deadlineOf(settledSandbox('started', { deadline: remove, operation: 'resizing' }))).toBeNull();
    expect(deadlineOf(settledSandbox('started'))).toBeNull();
  });

  it('leaves the intervals as they are', () => {
    const idle = { command: 'stop', at: 901_000 };
    expect(nextDeadline(settledSandbox('started', { deadline: stop }))).toEqual(idle);
  });

  it('goes once it has passed and was a stop, not a moment before', () => {
    expect(withoutPassedStop({ deadline: stop }, 6_999)).toEqual({});
    expect(withoutPassedStop({ deadline: stop }, 7_000)).toEqual({ deadline: null });
    expect(withoutPassedStop({ deadline: remove }, 9_000)).toEqual({});
    expect(withoutPassedStop({ deadline: null }, 9_000)).toEqual({});
  });
});
