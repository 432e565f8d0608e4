/** The life of a sandbox: every state with every command, and every operation with every outcome. */
import { describe, expect, it } from 'vitest';
import { SandhavenError } from '../../src/model/errors.ts';
import { type Command, type Decision, decide, deletedByStop } from '../../src/model/lifecycle.ts';
import { type Operation, type Sandbox, type SandboxState, sandboxStates } from '../../src/model/sandbox.ts';
import { archive, settledSandbox } from './lifecycle-fixtures.ts';

type Plain = Exclude<Command['type'], 'resize' | 'rollback'>;
type Expected = Operation | 'unchanged' | 'refused';

describe('each command in each state', () => {
  const cells: [SandboxState, Plain, Expected, string][] = [
    ['started', 'start', 'unchanged', 'WIRE-STATE-01'],
    ['started', 'stop', 'stopping', 'SBX-STATE-03'],
    ['started', 'archive', 'refused', 'SBX-STATE-06'],
    ['started', 'delete', 'deleting', 'SBX-STATE-11'],
    ['started', 'use', 'unchanged', 'SBX-CREATE-02'],
    ['stopped', 'start', 'starting', 'SBX-STATE-08'],
    ['stopped', 'stop', 'unchanged', 'WIRE-STATE-02'],
    ['stopped', 'archive', 'archiving', 'SBX-STATE-05'],
    ['stopped', 'delete', 'deleting', 'SBX-STATE-11'],
    ['stopped', 'use', 'refused', 'WIRE-STATE-07'],
    ['archived', 'start', 'restoring', 'SBX-STATE-09'],
    ['archived', 'stop', 'refused', 'WIRE-STATE-04'],
    ['archived', 'archive', 'refused', 'WIRE-STATE-03'],
    ['archived', 'delete', 'deleting', 'SBX-STATE-11'],
    ['archived', 'use', 'refused', 'WIRE-STATE-07'],
    ['error', 'start', 'starting', 'WIRE-STATE-06'],
    ['error', 'stop', 'stopping', 'WIRE-STATE-10'],
    ['error', 'archive', 'refused', 'WIRE-STATE-03'],
    ['error', 'delete', 'deleting', 'SBX-STATE-11'],
    ['error', 'use', 'refused', 'WIRE-STATE-07'],
  ];

  it('are all named here', () => {
    const commands: Plain[] = ['start', 'stop', 'archive', 'delete', 'use'];
    const all = sandboxStates.flatMap((state) => commands.map((command) => `${state} ${command}`));
    expect(cells.map(([state, command]) => `${state} ${command}`).toSorted()).toEqual(all.toSorted());
  });

  it.each(cells)('%s, %s: %s [%s]', (state, type, expected) => {
    const decision = decide(settledSandbox(state), { type });
    expect(kindOf(decision)).toBe(expected);
    if (decision.kind === 'refused') expectInvalidState(decision.error);
    if (decision.kind === 'begin') expect(decision.resizeTarget).toBeNull();
  });

  it.each(sandboxStates)('%s, rollback: restores from the captured disk', (state) => {
    expect(decide(settledSandbox(state), { type: 'rollback', captureId: 'snap_1' })).toEqual({
      kind: 'begin',
      operation: 'restoring',
      resizeTarget: null,
      rollbackTo: 'snap_1',
    });
    expect(
      decide(settledSandbox(state, { operation: 'deleting' }), { type: 'rollback', captureId: 'snap_1' }),
    ).toMatchObject({ kind: 'refused' });
  });

  it('[SBX-STATE-11] delete begins whatever is in progress, and nothing else does while it deletes', () => {
    const operations: Operation[] = [
      'creating',
      'starting',
      'stopping',
      'archiving',
      'restoring',
      'resizing',
      'deleting',
    ];
    for (const state of sandboxStates) {
      for (const operation of operations) {
        const decision = decide(settledSandbox(state, { operation }), { type: 'delete' });
        expect(kindOf(decision), `${state}, ${operation}`).toBe('deleting');
      }
      const deleting = settledSandbox(state, { operation: 'deleting' });
      for (const type of ['start', 'stop', 'archive', 'use'] as const) {
        expect(kindOf(decide(deleting, { type })), `${state}, ${type}`).toBe('refused');
      }
      expect(kindOf(decide(deleting, { type: 'resize', request: { cpu: 3 } })), state).toBe('refused');
    }
  });

  it('[SBX-STATE-09] an archived sandbox is restored, never started on a disk that is empty', () => {
    expect(kindOf(decide(settledSandbox('archived', { archive: null }), { type: 'start' }))).toBe(
      'restoring',
    );
  });

  it('[WIRE-STATE-06] start after a restore that failed restores again', () => {
    expect(kindOf(decide(settledSandbox('error', { archive }), { type: 'start' }))).toBe('restoring');
  });
});

describe('a resize in each state', () => {
  const now = { cpu: 4, memory: 8, disk: 20, gpu: 1 };
  const requests = {
    'cpu up': { cpu: 5 },
    'cpu down': { cpu: 3 },
    'memory up': { memory: 9 },
    'memory down': { memory: 7 },
    'disk up': { disk: 21 },
    'disk down': { disk: 19 },
    'cpu and memory up': { cpu: 16, memory: 64 },
    'cpu up, memory down': { cpu: 5, memory: 7 },
    'cpu up, disk up': { cpu: 5, disk: 21 },
    'cpu up, disk down': { cpu: 5, disk: 19 },
    'all three as they are': { cpu: 4, memory: 8, disk: 20 },
  };
  type Request = keyof typeof requests;

  const cells: [SandboxState, Request, Expected | 'invalid_argument', string][] = [
    ['started', 'cpu up', 'resizing', 'SBX-RESIZE-03'],
    ['started', 'cpu down', 'refused', 'SBX-RESIZE-04'],
    ['started', 'memory up', 'resizing', 'SBX-RESIZE-03'],
    ['started', 'memory down', 'refused', 'SBX-RESIZE-04'],
    ['started', 'disk up', 'refused', 'SBX-RESIZE-06'],
    ['started', 'disk down', 'invalid_argument', 'SBX-RESIZE-07'],
    ['started', 'cpu and memory up', 'resizing', 'SBX-RESIZE-03'],
    ['started', 'cpu up, memory down', 'refused', 'WIRE-RESIZE-02'],
    ['started', 'cpu up, disk up', 'refused', 'WIRE-RESIZE-02'],
    ['started', 'cpu up, disk down', 'invalid_argument', 'WIRE-RESIZE-02'],
    ['started', 'all three as they are', 'unchanged', 'SBX-RESIZE-03'],
    ['stopped', 'cpu up', 'resizing', 'SBX-RESIZE-05'],
    ['stopped', 'cpu down', 'resizing', 'SBX-RESIZE-05'],
    ['stopped', 'memory up', 'resizing', 'SBX-RESIZE-05'],
    ['stopped', 'memory down', 'resizing', 'SBX-RESIZE-05'],
    ['stopped', 'disk up', 'resizing', 'SBX-RESIZE-06'],
    ['stopped', 'disk down', 'invalid_argument', 'SBX-RESIZE-07'],
    ['stopped', 'cpu and memory up', 'resizing', 'SBX-RESIZE-05'],
    ['stopped', 'cpu up, memory down', 'resizing', 'SBX-RESIZE-05'],
    ['stopped', 'cpu up, disk up', 'resizing', 'SBX-RESIZE-06'],
    ['stopped', 'cpu up, disk down', 'invalid_argument', 'WIRE-RESIZE-02'],
    ['stopped', 'all three as they are', 'unchanged', 'SBX-RESIZE-05'],
    ...(Object.keys(requests) as Request[]).flatMap((request): typeof cells => [
      ['archived', request, 'refused', 'WIRE-STATE-04'],
      ['error', request, 'refused', 'SBX-RESIZE-06'],
    ]),
  ];

  it('are all named here', () => {
    const all = sandboxStates.flatMap((state) => Object.keys(requests).map((name) => `${state} ${name}`));
    expect(cells.map(([state, name]) => `${state} ${name}`).toSorted()).toEqual(all.toSorted());
  });

  it.each(cells)('%s, %s: %s [%s]', (state, name, expected) => {
    const request = requests[name];
    const decision = decide(settledSandbox(state, { resources: now }), { type: 'resize', request });
    if (expected === 'invalid_argument') {
      expect(decision).toMatchObject({ kind: 'refused', error: { code: 'invalid_argument' } });
      expect(decision).toMatchObject({ error: { fields: { parameter: 'disk_gb' } } });
      return;
    }
    expect(kindOf(decision)).toBe(expected);
    if (decision.kind === 'refused') expectInvalidState(decision.error);
    if (decision.kind === 'begin') expect(decision.resizeTarget).toEqual({ ...now, ...request });
  });

  it('names the parameter that is at fault', () => {
    const parameterOf = (request: object) => {
      const decision = decide(settledSandbox('started', { resources: now }), { type: 'resize', request });
      return decision.kind === 'refused' ? decision.error.fields.parameter : null;
    };
    expect(parameterOf({ cpu: 1 })).toBe('cpu');
    expect(parameterOf({ memory: 1 })).toBe('memory_gb');
    expect(parameterOf({ disk: 30 })).toBe('disk_gb');
    expect(parameterOf({ disk: 1 })).toBe('disk_gb');
  });
});

describe('a stop deletes', () => {
  it.each<[Pick<Sandbox, 'ephemeral' | 'autoDeleteMinutes'>, boolean, string]>([
    [{ ephemeral: true, autoDeleteMinutes: -1 }, true, 'SBX-STATE-10'],
    [{ ephemeral: true, autoDeleteMinutes: 5 }, true, 'SBX-STATE-10'],
    [{ ephemeral: false, autoDeleteMinutes: 0 }, true, 'SBX-AUTO-06'],
    [{ ephemeral: false, autoDeleteMinutes: -1 }, false, 'SBX-AUTO-07'],
    [{ ephemeral: false, autoDeleteMinutes: 1 }, false, 'SBX-AUTO-05'],
  ])('%o: %s [%s]', (sandbox, deletes) => {
    expect(deletedByStop(sandbox)).toBe(deletes);
  });
});

function kindOf(decision: Decision): Expected {
  return decision.kind === 'begin' ? decision.operation : decision.kind;
}

/** It names the sandbox and says what to do. */
function expectInvalidState(error: SandhavenError): void {
  expect(error).toBeInstanceOf(SandhavenError);
  expect(error.code).toBe('invalid_state');
  expect(error.message).toContain("'demo'");
  expect(error.fields.hint?.length).toBeGreaterThan(10);
  expect(error.fields.parameter).toBeDefined();
}

it.each([
  ['archived', 'stop', "Sandbox 'demo' is archived; StopSandbox needs it started."],
  ['started', 'archive', "Sandbox 'demo' is started; ArchiveSandbox needs it stopped."],
  ['archived', 'archive', "Sandbox 'demo' is already archived."],
  ['error', 'archive', "Sandbox 'demo' is in error; ArchiveSandbox needs it stopped."],
  ['error', 'use', "Sandbox 'demo' is in error; it must be started to work in it."],
  ['stopped', 'use', "Sandbox 'demo' is stopped; it must be started to work in it."],
] as const)('a sandbox that is %s refuses %s and says why', (state, type, message) => {
  const decision = decide(settledSandbox(state), { type });
  expect(decision).toMatchObject({
    kind: 'refused',
    error: { code: 'invalid_state', message, fields: { parameter: 'sandbox', hint: expect.any(String) } },
  });
});
