/** Where each outcome of each operation leads, and what holds over any sequence of commands and outcomes. */
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import {
  type Command,
  decide,
  deletedByStop,
  type Outcome,
  type Settlement,
  settle,
} from '../../src/model/lifecycle.ts';
import { type Operation, type Sandbox, type SandboxState, sandboxStates } from '../../src/model/sandbox.ts';
import { archive, settledSandbox } from './lifecycle-fixtures.ts';

type Plain = { type: 'start' | 'stop' | 'archive' };

const failed: Outcome = { type: 'failed', reason: 'broken' };
const exited: Outcome = { type: 'exited', reason: 'died' };

describe('a machine whose node does not answer', () => {
  it.each([null, 'resizing'] as const)('leaves an error, since it may still run: %s', (operation) => {
    const { resources } = settledSandbox('started');
    const sandbox = { ...settledSandbox('started'), operation, ephemeral: true };
    expect(settle(sandbox, { type: 'unreachable' })).toEqual({
      kind: 'settled',
      state: 'error',
      stateReason:
        'Its node does not answer, so its machine may still run. It can be started again once the node is back, or was removed from the cluster.',
      resources,
    });
  });
});

describe('each outcome of each operation', () => {
  const cells: [Operation, SandboxState, Outcome['type'], SandboxState | 'deleted' | 'unsettled', string][] =
    [
      ['creating', 'stopped', 'succeeded', 'started', 'SBX-STATE-02'],
      ['creating', 'stopped', 'declined', 'deleted', 'WIRE-BOX-22'],
      ['creating', 'stopped', 'failed', 'deleted', 'WIRE-STATE-10'],
      ['starting', 'stopped', 'succeeded', 'started', 'SBX-STATE-08'],
      ['starting', 'stopped', 'declined', 'stopped', 'WIRE-BOX-22'],
      ['starting', 'stopped', 'failed', 'error', 'WIRE-STATE-10'],
      ['starting', 'error', 'succeeded', 'started', 'WIRE-STATE-06'],
      ['starting', 'error', 'declined', 'error', 'WIRE-BOX-22'],
      ['starting', 'error', 'failed', 'error', 'WIRE-STATE-10'],
      ['stopping', 'started', 'succeeded', 'stopped', 'SBX-STATE-03'],
      ['stopping', 'started', 'declined', 'started', 'WIRE-BOX-22'],
      ['stopping', 'started', 'failed', 'error', 'WIRE-STATE-10'],
      ['stopping', 'error', 'succeeded', 'stopped', 'SBX-STATE-03'],
      ['stopping', 'error', 'declined', 'error', 'WIRE-BOX-22'],
      ['stopping', 'error', 'failed', 'error', 'WIRE-STATE-10'],
      ['archiving', 'stopped', 'succeeded', 'archived', 'SBX-STATE-05'],
      ['archiving', 'stopped', 'declined', 'stopped', 'WIRE-BOX-22'],
      ['archiving', 'stopped', 'failed', 'error', 'WIRE-STATE-10'],
      ['restoring', 'archived', 'succeeded', 'started', 'SBX-STATE-09'],
      ['restoring', 'archived', 'declined', 'archived', 'WIRE-BOX-22'],
      ['restoring', 'archived', 'failed', 'error', 'WIRE-STATE-10'],
      ['resizing', 'started', 'succeeded', 'started', 'SBX-RESIZE-03'],
      ['resizing', 'started', 'declined', 'started', 'WIRE-RESIZE-02'],
      ['resizing', 'started', 'failed', 'started', 'WIRE-RESIZE-02'],
      ['resizing', 'stopped', 'succeeded', 'stopped', 'SBX-RESIZE-05'],
      ['resizing', 'stopped', 'declined', 'stopped', 'WIRE-RESIZE-02'],
      ['resizing', 'stopped', 'failed', 'stopped', 'WIRE-RESIZE-02'],
      ...sandboxStates.map((state): (typeof cells)[number] => [
        'deleting',
        state,
        'succeeded',
        'deleted',
        'SBX-STATE-11',
      ]),
      // It keeps its operation, so that nothing but another delete can happen to what is half gone.
      ...sandboxStates.map((state): (typeof cells)[number] => [
        'deleting',
        state,
        'failed',
        'unsettled',
        'WIRE-STATE-10',
      ]),
    ];

  it.each(cells)('[WIRE-STATE-10] %s from %s, %s: %s [%s]', (operation, state, type, expected) => {
    const sandbox = settledSandbox(state, { operation });
    expect(stateOf(settle(sandbox, outcomeOf(type)))).toBe(expected);
  });

  it('[WIRE-STATE-08, WIRE-STATE-09] a machine that ended: stopped with the reason, or deleted', () => {
    const started = settledSandbox('started');
    expect(settle(started, exited)).toMatchObject({ state: 'stopped', stateReason: 'died' });
    expect(settle({ ...started, ephemeral: true }, exited)).toEqual({ kind: 'deleted' });
    expect(settle({ ...started, autoDeleteMinutes: 0 }, exited)).toEqual({ kind: 'deleted' });
  });

  it('[SBX-STATE-10, SBX-AUTO-06] a stop of what does not outlive it deletes', () => {
    const stopping = settledSandbox('started', { operation: 'stopping' });
    for (const change of [{ ephemeral: true }, { autoDeleteMinutes: 0 }]) {
      expect(settle({ ...stopping, ...change }, { type: 'succeeded' })).toEqual({ kind: 'deleted' });
    }
  });

  it('[SBX-RESIZE-09, WIRE-RESIZE-02] a resize gives the target when it succeeds, else what there was', () => {
    const resizeTarget = { cpu: 9, memory: 9, disk: 99, gpu: 0 };
    const resizing = settledSandbox('stopped', { operation: 'resizing', resizeTarget });
    expect(settle(resizing, { type: 'succeeded' })).toMatchObject({ resources: resizeTarget });
    expect(settle(resizing, failed)).toMatchObject({ resources: resizing.resources });
    expect(settle(resizing, { type: 'declined' })).toMatchObject({ resources: resizing.resources });
  });
});

describe('state_reason', () => {
  it('[WIRE-BOX-07] shows why the sandbox is in error', () => {
    for (const operation of ['starting', 'stopping', 'archiving', 'restoring'] as const) {
      const sandbox = settledSandbox('stopped', { operation });
      expect(settle(sandbox, failed), operation).toMatchObject({ stateReason: 'broken' });
    }
  });

  it('[WIRE-BOX-07] stays when it came with a stop; a caller’s own stop has none', () => {
    const stopping = settledSandbox('started', { operation: 'stopping' });
    const stop = (stateReason: string | null) => settle({ ...stopping, stateReason }, { type: 'succeeded' });
    expect(stop('idle')).toMatchObject({ state: 'stopped', stateReason: 'idle' });
    expect(stop(null)).toMatchObject({ state: 'stopped', stateReason: null });
  });

  it.each<Outcome>([{ type: 'succeeded' }, { type: 'declined' }, failed])(
    '[WIRE-BOX-07] of a stopped sandbox outlives a resize: $type',
    (outcome) => {
      const resizing = settledSandbox('stopped', { operation: 'resizing', stateReason: 'died' });
      expect(settle(resizing, outcome)).toMatchObject({ state: 'stopped', stateReason: 'died' });
    },
  );

  it('[WIRE-BOX-07] is nothing that a started sandbox has, also when its stop was declined', () => {
    const stopping = settledSandbox('started', { operation: 'stopping', stateReason: 'idle' });
    expect(settle(stopping, { type: 'declined' })).toMatchObject({ state: 'started', stateReason: null });
  });
});

describe('over any sequence of commands and outcomes', () => {
  const resource = fc.integer({ min: 1, max: 8 });
  const command = fc.oneof(
    {
      weight: 6,
      arbitrary: fc.constantFrom<Plain>({ type: 'start' }, { type: 'stop' }, { type: 'archive' }),
    },
    {
      weight: 2,
      arbitrary: fc
        .record({ cpu: resource, memory: resource, disk: resource }, { requiredKeys: [] })
        .map((request) => ({ type: 'resize' as const, request })),
    },
  );
  const outcome = fc.constantFrom<Outcome>(
    { type: 'succeeded' },
    { type: 'succeeded' },
    { type: 'declined' },
    failed,
    exited,
  );
  const long = { minLength: 20, maxLength: 80, size: 'max' } as const;
  const life = fc.array(fc.tuple(command, outcome), long);
  const birth = fc.record({ ephemeral: fc.boolean(), autoDeleteMinutes: fc.constantFrom(-1, 0, 7) });
  const lasting = { ephemeral: false, autoDeleteMinutes: -1 };

  it('there are four states, the disk never shrinks, and refused commands change nothing', () => {
    fc.assert(
      fc.property(fc.oneof(birth, fc.constant(lasting)), life, (settings, steps) => {
        let sandbox: Sandbox | null = newborn(settings);
        for (const [command, outcome] of steps) {
          const before: Sandbox = Object.freeze(sandbox);
          sandbox = live(before, command, outcome);
          if (sandbox === null) {
            expect(deletedByStop(before)).toBe(true);
            return;
          }
          expect(wrongOf(before, sandbox)).toEqual([]);
          if (decide(before, command).kind !== 'begin' && outcome.type !== 'exited') {
            expect(sandbox).toEqual(before);
          }
        }
      }),
      { numRuns: 2_000 },
    );
  });

  it('[SBX-STATE-04, SBX-STATE-09] a whole copy of the disk is always there, and it is the one used', () => {
    fc.assert(
      fc.property(life, (steps) => {
        let sandbox: Sandbox | null = newborn(lasting);
        const copies = { disk: true, archive: false };
        for (const [command, outcome] of steps) {
          const before: Sandbox = sandbox;
          sandbox = live(before, command, outcome, (operation) => {
            if (operation === 'starting') expect(copies.disk, 'starts on a whole disk').toBe(true);
            if (operation === 'archiving') expect(copies.disk, 'archives a whole disk').toBe(true);
            if (operation === 'resizing') expect(copies.disk, 'resizes a whole disk').toBe(true);
            if (operation === 'restoring') expect(copies.archive, 'restores a whole archive').toBe(true);
            keepCopies(copies, operation, outcome);
          });
          if (sandbox === null) throw new Error('nothing deletes a lasting sandbox');
          expect(copies.disk || copies.archive).toBe(true);
          if (sandbox.state === 'started') expect(copies.disk).toBe(true);
          if (sandbox.state === 'archived') expect(copies.archive).toBe(true);
        }
      }),
      { numRuns: 2_000 },
    );
  });

  it('delete ends every life', () => {
    fc.assert(
      fc.property(birth, life, (settings, steps) => {
        let sandbox: Sandbox | null = newborn(settings);
        for (const [command, outcome] of steps) {
          if (sandbox) sandbox = live(sandbox, command, outcome);
        }
        if (sandbox) expect(live(sandbox, { type: 'delete' }, { type: 'succeeded' })).toBeNull();
      }),
    );
  });
});

/** Names of what no command and no outcome may do. All in one go, since it is asked 80,000 times. */
function wrongOf(before: Sandbox, after: Sandbox): string[] {
  const mayHaveReason = after.state === 'stopped' || after.state === 'error';
  const wrong = {
    'another state than the four': !sandboxStates.includes(after.state),
    'an operation that goes on': after.operation !== null,
    'another generation, which is for control to draw': after.generation !== before.generation,
    'a smaller disk': after.resources.disk < before.resources.disk,
    'other GPUs': after.resources.gpu !== before.resources.gpu,
    'a reason that its state has none of': !mayHaveReason && after.stateReason !== null,
    'an error without a reason': after.state === 'error' && after.stateReason === null,
  };
  return Object.entries(wrong).flatMap(([name, is]) => (is ? [name] : []));
}

function newborn(settings: Pick<Sandbox, 'ephemeral' | 'autoDeleteMinutes'>): Sandbox {
  const creating = settledSandbox('stopped', { ...settings, operation: 'creating' });
  const born = settle(creating, { type: 'succeeded' });
  expect(born).toMatchObject({ state: 'started' });
  return settledSandbox('started', settings);
}

/**
 * One command and its outcome, stored as control stores them. An outcome of `exited` is the machine's own end
 * before the command; it only means something while the sandbox is started.
 */
function live(
  sandbox: Sandbox,
  command: Exclude<Command, { type: 'use' }>,
  outcome: Outcome,
  onBegin: (operation: Operation) => void = () => {},
): Sandbox | null {
  if (outcome.type === 'exited') {
    return sandbox.state === 'started' ? apply(sandbox, settle(sandbox, outcome)) : sandbox;
  }
  const decision = decide(sandbox, command);
  if (decision.kind !== 'begin') return sandbox;
  onBegin(decision.operation);
  const { operation, resizeTarget } = decision;
  const begun: Sandbox = { ...sandbox, operation, resizeTarget };
  if (operation === 'archiving' && outcome.type === 'succeeded') begun.archive = archive;
  const settled = apply(begun, settle(begun, outcome));
  if (operation === 'restoring' && settled?.state === 'started') return { ...settled, archive: null };
  return settled;
}

function apply(sandbox: Sandbox, settlement: Settlement): Sandbox | null {
  if (settlement.kind === 'deleted') return null;
  if (settlement.kind === 'unsettled') return sandbox;
  const { state, stateReason, resources } = settlement;
  return { ...sandbox, operation: null, resizeTarget: null, state, stateReason, resources };
}

/** What the runtime does to the disk and the archive; a restore that fails leaves half a disk. */
function keepCopies(
  copies: { disk: boolean; archive: boolean },
  operation: Operation,
  outcome: Outcome,
): void {
  const succeeded = outcome.type === 'succeeded';
  if (operation === 'archiving' && succeeded) Object.assign(copies, { disk: false, archive: true });
  if (operation === 'restoring' && succeeded) Object.assign(copies, { disk: true, archive: false });
  if (operation === 'restoring' && outcome.type === 'failed') copies.disk = false;
}

function stateOf(settlement: Settlement): SandboxState | 'deleted' | 'unsettled' {
  return settlement.kind === 'settled' ? settlement.state : settlement.kind;
}

function outcomeOf(type: Outcome['type']): Outcome {
  return type === 'failed' ? failed : type === 'exited' ? exited : { type };
}
