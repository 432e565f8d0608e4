/** Pure judgements of what the API shows: failures of a start, a resize, capacity, quantities, errors. */
import { describe, expect, it } from 'vitest';
import { ApiFailure, bounded, fromApi } from '../../src/runtime/kubernetes/client/failure.ts';
import { amountOf, type Node, type Pod } from '../../src/runtime/kubernetes/client/objects.ts';
import {
  addressOf,
  isBehind,
  isUnreachable,
  isUnseen,
  startFailure,
  unschedulable,
  unschedulableFailure,
} from '../../src/runtime/kubernetes/machine/pod-state.ts';
import { judgeResize } from '../../src/runtime/kubernetes/machine/resize.ts';
import { capacityOf } from '../../src/runtime/kubernetes/machine/survey.ts';

function pod(status: Pod['status'], more: Partial<Pod> = {}): Pod {
  const resources = { requests: { cpu: '1', memory: '1Gi' }, limits: { cpu: '1', memory: '1Gi' } };
  return {
    metadata: { name: 'sandbox-a', uid: 'u', generation: 2 },
    spec: { nodeName: 'node1', containers: [{ name: 'sandbox', image: 'i', resources }] },
    ...(status === undefined ? {} : { status }),
    ...more,
  };
}

const waiting = (reason: string, message = '') =>
  pod({
    phase: 'Pending',
    containerStatuses: [{ name: 'sandbox', state: { waiting: { reason, message } } }],
  });

describe('a start', () => {
  it.each([
    ['ImagePullBackOff', /^The node cannot pull an image: Back-off/],
    ['InvalidImageName', /^The node cannot pull an image/],
    ['CreateContainerConfigError', /^The node cannot make the container: CreateContainerConfigError/],
    ['RunContainerError', /^The node cannot make the container/],
  ])('cannot succeed after %s', (reason, text) => {
    const failure = startFailure(waiting(reason, 'Back-off pulling image "x"'));
    expect(failure).toMatchObject({ code: 'unavailable', message: expect.stringMatching(text) });
    expect(failure?.fields.hint).toBeTruthy();
  });

  it.each(['ContainerCreating', 'ErrImagePull', 'PodInitializing'])('may succeed after %s', (reason) => {
    expect(startFailure(waiting(reason))).toBeNull();
  });

  it('ends with its container, which says why', () => {
    const terminated = { exitCode: 1, reason: 'Error', message: 'sandhaven-agent: no folder\n' };
    const ended = pod({ phase: 'Failed', containerStatuses: [{ name: 'sandbox', state: { terminated } }] });
    expect(startFailure(ended)?.message).toBe(
      'The sandbox did not start: its agent ended with status 1 (Error): sandhaven-agent: no folder',
    );
    expect(startFailure(pod({ phase: 'Failed', reason: 'Evicted' }))?.message).toBe(
      'The sandbox did not start: its Pod is over (Evicted)',
    );
  });

  it('waits for a node while the scheduler has not refused it', () => {
    const refused = (message: string): Pod => ({
      ...pod({
        phase: 'Pending',
        conditions: [{ type: 'PodScheduled', status: 'False', reason: 'Unschedulable', message }],
      }),
      spec: { containers: [] },
    });
    const reason = '0/2 nodes are available: 2 Insufficient cpu.';
    expect(unschedulable(refused(reason))).toBe(reason);
    expect(unschedulable(pod({ phase: 'Pending' }))).toBeNull();
    const unseen: Pod = { ...refused(reason), status: { phase: 'Pending' } };
    expect(unschedulable(unseen)).toBeNull();
    expect([unseen, refused(reason), pod({ phase: 'Pending' })].map(isUnseen)).toEqual([true, false, false]);
    // As it says it for some seconds after an outage of the API server.
    const behind = '0/2 nodes are available: persistentvolumeclaim "sandbox-a" not found. not found';
    expect(isBehind(behind)).toBe(true);
    expect(isBehind(reason)).toBe(false);
    expect(unschedulableFailure(behind)).toMatchObject({ code: 'unavailable', fields: { retryable: true } });
    expect(unschedulableFailure(reason)).toMatchObject({ code: 'resource_exhausted' });
    expect(
      unschedulableFailure("0/2 nodes are available: 2 node(s) didn't match Pod's node affinity"),
    ).toMatchObject({
      code: 'unavailable',
    });
  });

  it('has an address until its Pod is over', () => {
    expect(addressOf(pod({ phase: 'Pending', podIP: '10.0.0.1' }))).toBe('10.0.0.1');
    expect(addressOf(pod({ phase: 'Failed', podIP: '10.0.0.1' }))).toBeNull();
    expect(addressOf(pod(undefined))).toBeNull();
  });
});

describe('a resize', () => {
  const wanted = { cpu: '2', memory: '2Gi' };
  const patched = pod({}, { metadata: { name: 'sandbox-a', uid: 'u', generation: 3 } });
  const seen = (status: Pod['status'], generation = 3) =>
    judgeResize(pod(status, { metadata: { name: 'sandbox-a', uid: 'u', generation } }), patched, wanted);
  const holds = (cpu: string, memory: string) => [
    { name: 'sandbox', resources: { limits: { cpu, memory } } },
  ];

  it('is done when the container has the sizes, however they are written', () => {
    expect(
      seen({ phase: 'Running', observedGeneration: 3, containerStatuses: holds('2000m', '2048Mi') }),
    ).toBe(true);
    expect(seen({ phase: 'Running', containerStatuses: holds('2', '2Gi') })).toBe(true);
    expect(seen({ phase: 'Running', containerStatuses: holds('1', '2Gi') })).toBeUndefined();
  });

  it('is not judged by what the kubelet said before it', () => {
    const conditions = [{ type: 'PodResizePending', status: 'True', reason: 'Infeasible' } as const];
    expect(seen({ phase: 'Running', observedGeneration: 2, conditions })).toBeUndefined();
    expect(seen({ phase: 'Running', conditions }, 2)).toBeUndefined();
  });

  it('is refused where the node has no room, and where the kubelet fails', () => {
    const says = (type: string, reason: string) => ({
      phase: 'Running' as const,
      observedGeneration: 3,
      conditions: [{ type, status: 'True', reason, message: 'why' } as const],
    });
    expect(() => seen(says('PodResizePending', 'Deferred'))).toThrow(/refuses the new ones: Deferred why/);
    expect(() => seen(says('PodResizeInProgress', 'Error'))).toThrow(/refuses the new ones: why/);
    expect(seen(says('PodResizeInProgress', ''))).toBeUndefined();
  });

  it('ends with the machine', () => {
    expect(() => judgeResize(undefined, patched, wanted)).toThrow('The machine ended');
    expect(() => seen({ phase: 'Failed' })).toThrow('The machine ended');
  });
});

describe('nodes', () => {
  const node = (name: string, more: Partial<Node> = {}): Node => ({
    metadata: { name },
    status: {
      allocatable: { cpu: '2', memory: '4Gi', pods: '10', 'nvidia.com/gpu': '2' },
      conditions: [{ type: 'Ready', status: 'True' }],
    },
    ...more,
  });
  const away: Node['status'] = { conditions: [{ type: 'Ready', status: 'Unknown' }] };

  it('are unreachable when they do not report, or have the taint; not when they only are not ready', () => {
    expect(isUnreachable(node('a'))).toBe(false);
    expect(isUnreachable(node('a', { status: away }))).toBe(true);
    expect(isUnreachable(node('a', { status: { conditions: [{ type: 'Ready', status: 'False' }] } }))).toBe(
      false,
    );
    const taints = [{ key: 'node.kubernetes.io/unreachable', effect: 'NoExecute' }];
    expect(isUnreachable(node('a', { spec: { taints } }))).toBe(true);
  });

  it('have what their Pods leave of what can be used', () => {
    const nodes = [
      node('node1'),
      node('node2', { status: away }),
      node('node3', { spec: { unschedulable: true } }),
    ];
    const elsewhere: Pod = { ...pod({ phase: 'Running' }), spec: { nodeName: 'node2', containers: [] } };
    const pods = [pod({ phase: 'Running' }), pod({ phase: 'Failed' }), elsewhere];
    expect(capacityOf(nodes, pods, 'nvidia.com/gpu')).toMatchObject({
      freeMemoryBytes: 3 * 2 ** 30,
      freeSlots: 9,
      gpus: 2,
      freeGpus: 2,
    });
  });

  it('have their room while all are away: the cluster has lost sight of them', () => {
    const { allocatable } = node('node1').status ?? {};
    const both = ['node1', 'node2'].map((name) =>
      node(name, { status: { ...away, ...(allocatable && { allocatable }) } }),
    );
    expect(capacityOf(both, [pod({ phase: 'Running' })], 'nvidia.com/gpu')).toMatchObject({
      freeMemoryBytes: 7 * 2 ** 30,
      freeSlots: 19,
    });
  });
});

describe('quantities', () => {
  it.each([
    ['2', 2],
    ['500m', 0.5],
    ['4Gi', 4_294_967_296],
    ['1.5Gi', 1_610_612_736],
    ['129e6', 129_000_000],
    ['128974848', 128_974_848],
    ['1k', 1_000],
    ['lots', 0],
    [undefined, 0],
  ])('%s is %s', (text, value) => {
    expect(amountOf(text)).toBe(value);
  });
});

describe('errors of the API', () => {
  const what = 'The machine could not be started.';
  it('are for callers what they mean to them', () => {
    const of = (status: number, message: string) => fromApi(new ApiFailure(status, '', message), what);
    expect(of(403, 'pods "a" is forbidden: exceeded quota: q')).toMatchObject({ code: 'resource_exhausted' });
    expect(of(403, "node didn't have enough allocatable resources: cpu")).toMatchObject({
      code: 'resource_exhausted',
    });
    expect(of(403, 'User "a" cannot create')).toMatchObject({
      code: 'unavailable',
      fields: { retryable: false },
    });
    expect(of(422, 'Pod is invalid')).toMatchObject({ code: 'unavailable', fields: { retryable: false } });
    expect(of(500, 'etcd')).toMatchObject({ code: 'unavailable' });
    expect(fromApi(new Error('connect ECONNREFUSED'), what).message).toBe(
      'The machine could not be started. Kubernetes does not answer.',
    );
  });

  it('have one line, not too long', () => {
    expect(bounded(' a\n\tb\u0000c ')).toBe('a b c');
    expect(bounded('x'.repeat(400))).toHaveLength(301);
  });
});
