/** Words and numbers of the contract in results: each stands here once more, as a literal. */
import { describe, expect, it } from 'vitest';
import { findTool } from '../../src/catalog/call.ts';
import { describeTool } from '../../src/catalog/describe.ts';
import type { JsonSchema } from '../../src/catalog/json-schema.ts';
import { defaultResources } from '../../src/control/base/base-image.ts';
import type { AgentSessions, SessionStore } from '../../src/control/ports/index.ts';
import type { Environments } from '../../src/control/reach/environment.ts';
import type { SandboxUses } from '../../src/control/work/sandbox-uses.ts';
import { SessionService } from '../../src/control/work/sessions.ts';
import { newSandboxId, newSnapshotId } from '../../src/model/ids.ts';
import { limits } from '../../src/model/limits.ts';
import { user } from '../surfaces/fakes/fake-services.ts';

const sandboxStates = ['started', 'stopped', 'archived', 'error'];
const snapshotStates = ['pending', 'pulling', 'active', 'error'];
const languages = ['python', 'typescript', 'javascript'];
const commandStates = ['queued', 'running', 'completed'];

/** Rows of a tool, a place in its result, and all values there, from docs/contract.md. */
const enums: [string, string, string[]][] = [
  ['Sandbox.CreateSandbox', 'state', sandboxStates],
  ['Sandbox.CreateSandbox', 'status', sandboxStates],
  ['Sandbox.CreateSandbox', 'language', languages],
  ['Sandbox.GetSandbox', 'state', sandboxStates],
  ['Sandbox.GetSandbox', 'status', sandboxStates],
  ['Sandbox.GetSandbox', 'language', languages],
  ['Sandbox.ListSandboxes', 'sandboxes.state', sandboxStates],
  ['Sandbox.ListSandboxes', 'sandboxes.status', sandboxStates],
  ['Sandbox.ListSandboxes', 'sandboxes.language', languages],
  ['Sandbox.CreateSnapshot', 'state', snapshotStates],
  ['Sandbox.GetSnapshot', 'state', snapshotStates],
  ['Sandbox.ListSnapshots', 'snapshots.state', snapshotStates],
  ['Sandbox.ListFiles', 'files.type', ['file', 'dir']],
  ['Sandbox.GetFileInfo', 'type', ['file', 'dir', 'symlink', 'other']],
  ['Sandbox.ReadFile', 'encoding', ['utf-8', 'base64']],
  ['Sandbox.ReplaceInFiles', 'results.status', ['success', 'error']],
  ['Sandbox.RunCode', 'charts.type', ['line', 'scatter', 'bar', 'pie', 'box', 'composite', 'unknown']],
  ['Sandbox.ListSessions', 'sessions.recent_commands.status', commandStates],
  ['Sandbox.RunSessionCommand', 'status', commandStates],
  ['Sandbox.GetSessionCommandLogs', 'status', commandStates],
  ['DocumentDb.DiscoverCollections', 'result.type', ['collection', 'view', 'timeseries']],
];

describe('enums of results', () => {
  it.each(enums)(
    '[SBX-STATE-01] [WIRE-BOX-05] [WIRE-SNAP-02] [WIRE-FILES-02] [WIRE-SESSION-15] %s: %s is one of %j',
    (tool, place, values) => {
      expect(fieldOf(tool, place).enum).toEqual(values);
    },
  );

  it.each([
    ['Sandbox.ListPorts', 'ports.state', 'listening'],
    ['Sandbox.CreateSession', 'status', 'active'],
    ['Sandbox.ListSessions', 'sessions.status', 'active'],
    ['Sandbox.SendSessionInput', 'sent', true],
  ])('[WIRE-PORTS-01] [WIRE-SESSION-01] [WIRE-SESSION-11] %s: %s is %j', (tool, place, value) => {
    expect(fieldOf(tool, place)['const']).toBe(value);
  });
});

/** Golden frames hold those that agents are asked for (1 MiB of output, 16 MiB of a file, 50 matches): `protocol`. */
describe('numbers of results', () => {
  it('[WIRE-AUTO-02] [WIRE-AUTO-03] a sandbox is archived after 10080 minutes, and never deleted, by itself', () => {
    expect(limits.autoArchiveMinutes.default).toBe(10_080);
    expect(limits.autoDeleteMinutes.default).toBe(-1);
  });

  it('[SBX-SNAP-03] a snapshot, and the pool, have 2 vCPUs, 4 GB of memory, 20 GB of disk and no GPU', () => {
    expect(defaultResources).toEqual({ cpu: 2, memory: 4, disk: 20, gpu: 0 });
    const { properties = {} } = describeTool(findTool('Sandbox.CreateSnapshot')).input_schema;
    expect(properties['resources']?.description).toContain('(default 2, 4, 20, 0)');
  });

  it('[WIRE-HTTP-07] a JSON body is at most 24 MiB', () => {
    expect(limits.jsonBodyBytes).toBe(25_165_824);
  });

  it('[WIRE-SESSION-08] a call of a session waits 60 s for its turn, then 600 s for its end', async () => {
    const asked: unknown[] = [];
    const uses = {
      run: (_caller: unknown, _reference: unknown, use: (sandbox: object) => unknown) => use({}),
    };
    const agent = {
      runSessionCommand: async (_id: string, request: unknown) => {
        asked.push(request);
        return { status: 'completed', exitCode: 0, output: '' };
      },
    };
    const sessions = new SessionService(
      uses as unknown as SandboxUses,
      agent as unknown as AgentSessions,
      {} as Environments,
      {} as SessionStore,
    );
    for (const wait of [true, false]) {
      await sessions.run(user, undefined, { sessionId: 's', command: 'true', wait });
    }
    expect(asked).toMatchObject([
      { waitTurnMs: 60_000, waitRunMs: 600_000 },
      { waitTurnMs: 0, waitRunMs: 0 },
    ]);
  });

  it('[WIRE-BOX-01] [WIRE-SNAP-01] IDs are a prefix and 16 of [0-9a-z]', () => {
    expect(newSandboxId()).toMatch(/^sb_[0-9a-z]{16}$/);
    expect(newSnapshotId()).toMatch(/^snap_[0-9a-z]{16}$/);
  });
});

/** Finds a field within objects and lists of objects. */
function fieldOf(tool: string, place: string): JsonSchema {
  const { output_schema } = describeTool(findTool(tool));
  return place.split('.').reduce<JsonSchema>((schema, key) => {
    const field = (schema.items ?? schema).properties?.[key];
    if (!field) throw new Error(`${tool} has no ${place}`);
    return field;
  }, output_schema);
}
