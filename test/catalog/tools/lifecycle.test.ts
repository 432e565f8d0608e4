import { describe, expect, it } from 'vitest';
import { sandboxLine, toSandboxView } from '../../../src/catalog/base/sandbox-view.ts';
import { snapshotText, toSnapshotView } from '../../../src/catalog/snapshots/snapshots.ts';
import type { Snapshot } from '../../../src/model/snapshot.ts';
import { sandboxRecord } from '../../store/fixtures.ts';
import { callWith, progress } from './call-with.ts';

const box = sandboxRecord({ id: 'sb_1', name: 'box' });

describe('what sandbox tools pass on', () => {
  it('CreateSandbox: the key that makes a retry safe, and its progress', async () => {
    const context = { idempotencyKey: 'once' };
    const { asked } = await callWith('CreateSandbox', {}, 'sandboxes.create', box, context);
    expect(asked[1]).toEqual({ onProgress: progress, idempotencyKey: 'once' });
    const without = await callWith('CreateSandbox', {}, 'sandboxes.create', box);
    expect(without.asked[1]).toEqual({ onProgress: progress });
  });

  it('ListSandboxes: state and labels', async () => {
    const given = { state: 'started', labels: { a: 'b' } };
    const answer = { sandboxes: [], totalCount: 0 };
    const { asked } = await callWith('ListSandboxes', given, 'sandboxes.list', answer);
    expect(asked[0]).toEqual(given);
  });

  it('ConfigureSandboxAuto: whether the setting has deleted the sandbox', async () => {
    const given = { sandbox: 'box', auto_delete_minutes: 0 };
    const kept = { sandbox: box, deleted: false };
    const left = await callWith('ConfigureSandboxAuto', given, 'sandboxes.configure', kept);
    expect(left.result).not.toHaveProperty('deleted');
    const gone = { sandbox: box, deleted: true };
    const deleted = await callWith('ConfigureSandboxAuto', given, 'sandboxes.configure', gone);
    expect(deleted.result).toMatchObject({ id: 'sb_1', deleted: true });
  });
});

describe('the line of a sandbox', () => {
  it('has no labels and no reason where there are none', () => {
    expect(sandboxLine(toSandboxView(box))).toBe(
      "Sandbox 'box' (sb_1) is started: python, 2 vCPU, 4 GB memory, 20 GB disk.",
    );
  });

  it('has its operation, labels, GPUs and reason', () => {
    const special = sandboxRecord({
      ...box,
      ...{ operation: 'stopping', labels: { a: 'b', c: 'd' }, stateReason: 'Idle.' },
      resources: { cpu: 2, memory: 4, disk: 20, gpu: 1 },
    });
    expect(sandboxLine(toSandboxView(special))).toBe(
      "Sandbox 'box' (sb_1) is started (stopping): python, 2 vCPU, 4 GB memory, 20 GB disk, 1 GPU." +
        ' Labels: a=b, c=d. Reason: Idle.',
    );
  });

  it('has times that have not come as null', () => {
    const stopped = toSandboxView(sandboxRecord({ ...box, stoppedAt: 0, archivedAt: null }));
    expect(stopped).toMatchObject({ stopped_at: '1970-01-01T00:00:00.000Z', archived_at: null });
  });
});

describe('the line of a snapshot', () => {
  const snapshot = {
    ...{ id: 'snap_1', name: 's', ownerId: 'u', state: 'error', stateReason: 'No such image.' },
    ...{ image: 'debian:13', entrypoint: null, regionId: 'local', sizeBytes: null },
    ...{ resources: { cpu: 1, memory: 2, disk: 3, gpu: 0 }, createdAt: 0, updatedAt: 0 },
    ...{ network: null, user: null, source: null, imageConfig: null },
  } as unknown as Snapshot;

  it('has its reason, and no size before it is known', () => {
    const view = toSnapshotView(snapshot);
    expect(view.state_reason).toBe('No such image.');
    expect(snapshotText(view)).toBe(
      "Snapshot 's' (snap_1) is error: image debian:13, 1 vCPU, 2 GB memory, 3 GB disk, no entrypoint." +
        ' Created 1970-01-01T00:00:00.000Z. Reason: No such image.',
    );
  });

  it('has its size and its entrypoint', () => {
    const ready = { ...snapshot, state: 'active', stateReason: null, sizeBytes: 7, entrypoint: ['sh', '-c'] };
    const view = toSnapshotView(ready as Snapshot);
    expect(view).not.toHaveProperty('state_reason');
    expect(snapshotText(view)).toBe(
      "Snapshot 's' (snap_1) is active: image debian:13, 7 bytes, 1 vCPU, 2 GB memory, 3 GB disk, " +
        'entrypoint ["sh","-c"]. Created 1970-01-01T00:00:00.000Z.',
    );
  });

  it('has the sandbox whose disk it has', () => {
    const source = { id: 'sb_1', name: 'box' };
    expect(toSnapshotView(snapshot)).not.toHaveProperty('source');
    const view = toSnapshotView({ ...snapshot, source });
    expect(view.source).toEqual(source);
    expect(snapshotText(view)).toContain("is error: disk of sandbox 'box', image debian:13,");
  });

  it('has the build that has made it, with its environment and folder', () => {
    const source = { id: 'build_0123456789abcdef', name: 'Dockerfile' };
    const imageConfig = { env: { A: '1' }, workdir: '/app', entrypoint: null, cmd: null };
    const view = toSnapshotView({ ...snapshot, source, imageConfig });
    expect(view).toMatchObject({ source, env: { A: '1' }, workdir: '/app' });
    expect(snapshotText(view)).toContain("is error: built from 'Dockerfile', image debian:13,");
  });

  it('has its network while it has one of its own', () => {
    const network = { mode: 'rules' as const, profiles: ['git'], allow: [] };
    expect(toSnapshotView(snapshot)).not.toHaveProperty('network');
    const view = toSnapshotView({ ...snapshot, network });
    expect(view.network).toEqual(network);
    expect(snapshotText(view)).toContain('no entrypoint, network rules.');
  });
});
