/** Copies of the cluster's objects that are behind the API server, or see less than it. */
import { beforeEach, describe, expect, it } from 'vitest';
import { ApiFailure } from '../../src/runtime/kubernetes/client/failure.ts';
import type { KubeObject, Node, Pod } from '../../src/runtime/kubernetes/client/objects.ts';
import type { KubernetesSettings } from '../../src/runtime/kubernetes/client/settings.ts';
import type { Copies } from '../../src/runtime/kubernetes/machine/copies.ts';
import { createPods } from '../../src/runtime/kubernetes/machine/pods.ts';
import { createSurvey } from '../../src/runtime/kubernetes/machine/survey.ts';
import { type MemoryApi, memoryApi } from './memory-api.ts';

const ID = 'sb_0123456789abcdef';
const NAME = 'sandbox-sb-0123456789abcdef';
const PATH = `/api/v1/namespaces/default/pods/${NAME}`;
const settings = { namespace: 'default', instanceId: 'abc123' } as KubernetesSettings;
const log = { info() {}, warn() {}, error() {} };

let api: MemoryApi;
/** What the copies show. */
let shown: { pods: Pod[]; nodes: Node[] };

beforeEach(() => {
  api = memoryApi();
  shown = { pods: [], nodes: [] };
});

function copies(): Copies {
  const copy = <T extends KubeObject>(values: () => T[]) => ({
    current: async () => {},
    values,
    get: (name: string) => values().find(({ metadata }) => metadata.name === name),
    until: async (name: string, judge: (object: T | undefined) => unknown) =>
      judge(values().find(({ metadata }) => metadata.name === name)) ?? false,
  });
  const none = copy(() => []);
  return {
    ...{ pods: copy(() => shown.pods), nodes: copy(() => shown.nodes) },
    ...{ claims: none, secrets: none, notes: none },
  } as unknown as Copies;
}

const pod = (uid: string, node = 'node1'): Pod => ({
  metadata: {
    ...{ name: NAME, uid, labels: { 'sandhaven.dev/sandbox': ID } },
    annotations: { 'sandhaven.dev/generation': '3' },
  },
  spec: { nodeName: node, containers: [] },
  status: { phase: 'Running' },
});

describe('the removal of a Pod that the copy has never shown', () => {
  it('ends when the API server has it no more', async () => {
    const pods = createPods({ api, copies: copies(), settings, log });
    api.objects.set(PATH, pod('one'));
    let removed = false;
    // As a Pod with a grace period: asked to go, and still there.
    api.remove = async () => void setTimeout(() => api.objects.delete(PATH), 300);
    await pods.remove(pod('one'), 0).then(() => {
      removed = !api.objects.has(PATH);
    });
    expect(removed).toBe(true);
  });

  it('leaves one that has come in its place', async () => {
    const pods = createPods({ api, copies: copies(), settings, log });
    api.objects.set(PATH, pod('two'));
    api.remove = () => Promise.reject(new ApiFailure(409, 'Conflict', 'Precondition failed: UID'));
    await pods.remove(pod('one'), 0);
    expect(api.objects.has(PATH)).toBe(true);
  });
});

describe('the look at one sandbox', () => {
  const survey = () =>
    createSurvey({
      ...{ api, settings, copies: copies() },
      readPod: (id) => createPods({ api, copies: copies(), settings, log }).read(id),
    });

  it('finds a machine that the copy does not show yet', async () => {
    api.objects.set(PATH, pod('one'));
    expect(await survey().inspect(ID)).toMatchObject({ id: ID, runningGeneration: 3 });
  });

  it('finds none where the copy still shows one', async () => {
    shown.pods = [pod('one')];
    expect(await survey().inspect(ID)).toMatchObject({ id: ID, runningGeneration: null });
  });

  it('fails without an answer of the API server', async () => {
    api.get = () => Promise.reject(new ApiFailure(500, '', 'etcd is away'));
    await expect(survey().inspect(ID)).rejects.toMatchObject({ code: 'unavailable' });
  });
});

describe('the look at all sandboxes', () => {
  const node = (name: string, status: 'True' | 'Unknown'): Node => ({
    metadata: { name },
    status: { conditions: [{ type: 'Ready', status }] },
  });
  const seen = async () =>
    (await createSurvey({ ...{ api, settings, copies: copies() }, readPod: async () => null }).observe())[0];

  it.each([
    ['its node answers', ['True', 'Unknown'], {}],
    ['its node does not answer', ['Unknown', 'True'], { unreachable: true }],
    ['no node of several answers', ['Unknown', 'Unknown'], { unreachable: true, allUnreachable: true }],
    ['the only node does not answer', ['Unknown'], { unreachable: true }],
  ] as [string, ('True' | 'Unknown')[], object][])('says whether %s', async (_which, states, expected) => {
    shown.nodes = states.map((state, at) => node(`node${at + 1}`, state));
    shown.pods = [pod('one')];
    const { unreachable, allUnreachable } = (await seen()) ?? {};
    expect({ ...(unreachable && { unreachable }), ...(allUnreachable && { allUnreachable }) }).toEqual(
      expected,
    );
  });
});

describe('memory in use', () => {
  async function asks(message: string): Promise<number> {
    shown.pods = [pod('one')];
    let asked = 0;
    api.get = () => {
      asked += 1;
      return Promise.reject(new ApiFailure(404, 'NotFound', message));
    };
    const survey = createSurvey({ ...{ api, settings, copies: copies() }, readPod: async () => null });
    for (let time = 0; time < 2; time++)
      expect(await survey.usage(ID)).toEqual({ cpuMs: null, memoryBytes: null, diskBytes: null });
    return asked;
  }

  it('is asked for again of a Pod that is not measured yet', async () => {
    expect(await asks(`podmetrics.metrics.k8s.io "default/${NAME}" not found`)).toBe(2);
  });

  it('is not asked for again where the cluster has no metrics', async () => {
    expect(await asks('the server could not find the requested resource')).toBe(1);
  });
});
