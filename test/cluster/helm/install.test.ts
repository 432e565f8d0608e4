/**
 * The chart and the image of the service on a real Kubernetes, in a namespace with the strictest Pod security, with a
 * PostgreSQL beside it. The service makes sandboxes, which live on while it is upgraded, rolled back and installed anew.
 */
import { execFileSync } from 'node:child_process';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import { makeOciImage } from '../../../setup/images/oci-images.ts';
import { type Cluster, startCluster } from '../cluster.ts';
import { postgresFor } from '../companions/companions.ts';
import { pushBusybox } from '../images.ts';
import { chart, openTools, required, type Tools, type Values } from './helm.ts';
import { type Replicas, replicasOf, wayToRegistry } from './replicas.ts';

const NAMESPACE = 'tools';
const BOXES = 'tools-sandboxes';
const ACCOUNT = `system:serviceaccount:${NAMESPACE}:sandhaven`;
const HOST = 'sandhaven.example';
const PASSWORD = 'only for this test';
const WAIT = ['--namespace', NAMESPACE, '--wait', '--timeout', '90s'];

let work: string;
let cluster: Cluster;
let tools: Tools;
let values: Values;
let service: string;
let replicas: Replicas;
let sandbox: string;

beforeAll(async () => {
  work = mkdtempSync(join(tmpdir(), 'sandhaven-install-'));
  for (const name of ['sandhaven', 'sandhaven-agent'] as const) await makeOciImage(name, work);
  cluster = await startCluster();
  tools = openTools(cluster.kubeconfig);
  const [first = '', agent = ''] = push();
  service = first;
  const postgres = await postgresFor(cluster, { password: PASSWORD });
  values = {
    ...required({ service, agent, base: pushBusybox(cluster.registry) }),
    store: { url: await postgres.database(), existingSecret: 'database' },
    network: { publicUrl: `http://${HOST}` },
    extraEnv: [...wayToRegistry(cluster.registry), { name: 'SANDHAVEN_WARM_POOL', value: '0' }],
  };
  replicas = replicasOf(cluster, { namespace: NAMESPACE, host: HOST });
  tools.kubectl(['create', 'namespace', NAMESPACE]);
  tools.kubectl([
    ...['-n', NAMESPACE, 'create', 'secret', 'generic', 'database'],
    `--from-literal=password=${PASSWORD}`,
  ]);
  tools.kubectl(['label', 'namespace', NAMESPACE, 'pod-security.kubernetes.io/enforce=restricted']);
}, 180_000);

afterAll(async () => {
  tools?.remove();
  await cluster?.stop();
  rmSync(work, { recursive: true, force: true });
});

afterEach(({ task }) => {
  if (task.result?.state !== 'fail') return;
  console.info(tools.kubectl(['-n', NAMESPACE, 'describe', 'pods']));
  console.info(
    tools.kubectl([
      '-n',
      NAMESPACE,
      'logs',
      '--tail=40',
      '--prefix',
      '-l',
      'app.kubernetes.io/name=sandhaven',
    ]),
  );
});

describe('the image of the service', () => {
  it('runs on a node as an ordinary user, with no rights and a read-only root', async () => {
    const pods = `/api/v1/namespaces/${NAMESPACE}/pods`;
    const settings = {
      allowPrivilegeEscalation: false,
      readOnlyRootFilesystem: true,
      capabilities: { drop: ['ALL'] },
    };
    await cluster.api.create(pods, {
      metadata: { name: 'version' },
      spec: {
        restartPolicy: 'Never',
        securityContext: { runAsNonRoot: true, seccompProfile: { type: 'RuntimeDefault' } },
        containers: [{ name: 'main', image: service, args: ['--version'], securityContext: settings }],
      },
    });
    const ended = ({ status }: { status?: { phase?: string } }) =>
      /Succeeded|Failed/.test(status?.phase ?? '');
    const pod = await cluster.api.until(`${pods}/version`, ended, 60_000);
    expect(pod.status.phase).toBe('Succeeded');
    expect(tools.kubectl(['-n', NAMESPACE, 'logs', 'version'])).toMatch(/^sandhaven \d+\.\d+\.\d+\n/);
    await cluster.api.delete(`${pods}/version`);
  }, 90_000);
});

describe('the chart', () => {
  it('is accepted by the server with every part of Kubernetes’ own', () => {
    tools.kubectl(['create', 'namespace', 'boxes']);
    const all = {
      ...values,
      replicas: 2,
      sandboxes: { namespace: 'boxes', createNamespace: false, storageClass: 'test-disk' },
      ingress: { enabled: true, apiHost: 'a.example', previewsHost: '*.p.example', apiTlsSecret: 'tls' },
      autoscaling: { enabled: true, metric: 'calls_in_progress' },
      services: { ssh: { type: 'LoadBalancer' } },
    };
    const text = tools.helm(['template', 'sandhaven', chart, '--namespace', NAMESPACE], all);
    const said = tools.kubectl(['apply', '--dry-run=server', '-f', '-'], text);
    expect(
      said
        .trim()
        .split('\n')
        .filter((line) => !line.endsWith('created (server dry run)')),
    ).toEqual([]);
  });

  it('installs, and its test passes', () => {
    tools.helm(['install', 'sandhaven', chart, ...WAIT], values);
    expect(tools.helm(['test', 'sandhaven', '--namespace', NAMESPACE, '--timeout', '60s'])).toContain(
      'Succeeded',
    );
  }, 180_000);

  it('gives the service these rights over sandboxes, and none beside', () => {
    const can = (verb: string, named: string, namespace: string) => {
      const [resource = '', subresource] = named.split('/');
      const part = subresource === undefined ? [] : [`--subresource=${subresource}`];
      try {
        tools.kubectl([
          'auth',
          'can-i',
          verb,
          resource,
          ...part,
          '-n',
          namespace,
          '--as',
          ACCOUNT,
          '--quiet',
        ]);
        return true;
      } catch {
        return false;
      }
    };
    const allowed = [
      ...['create pods', 'patch pods/resize', 'delete persistentvolumeclaims', 'deletecollection secrets'],
      ...['list events', 'patch networkpolicies.networking.k8s.io', 'list nodes', 'update configmaps'],
      ...['list storageclasses.storage.k8s.io', 'list servicecidrs.networking.k8s.io'],
    ];
    const denied = [
      ...['create pods/exec', 'get pods/log', 'get secrets', 'create events', 'delete nodes', 'patch pods'],
      ...['create storageclasses.storage.k8s.io', 'create rolebindings.rbac.authorization.k8s.io'],
    ];
    const answers = (rights: string[]) =>
      rights.map((right) => [right, can(...(right.split(' ') as [string, string]), BOXES)]);
    expect(answers(allowed)).toEqual(allowed.map((right) => [right, true]));
    expect(answers(denied)).toEqual(denied.map((right) => [right, false]));
    expect(can('list', 'secrets', NAMESPACE)).toBe(false);
    expect(can('create', 'pods', NAMESPACE)).toBe(false);
  });

  it('makes sandboxes', async () => {
    const size = { cpu: 1, memory_gb: 1, disk_gb: 1 };
    const { id } = await replicas.ok(apiKey(), 'CreateSandbox', { name: 'lasting', ...size });
    sandbox = String(id);
    await replicas.ok(apiKey(), 'RunCommand', { sandbox, command: 'echo here > /tmp/kept' });
    expect(await kept()).toBe('here\n');
  }, 120_000);

  it('keeps secrets and sandboxes over an upgrade, a rollback, and an uninstall with a new install', async () => {
    const before = secrets();
    expect(Buffer.from(before.secretKey, 'base64')).toHaveLength(32);
    expect(Buffer.from(before.apiKey, 'base64').toString()).toMatch(/^shv_[0-9a-z]{43}$/);

    tools.helm(['upgrade', 'sandhaven', chart, ...WAIT], { ...values, replicas: 2 });
    expect(deployment().status).toMatchObject({ readyReplicas: 2, updatedReplicas: 2 });
    expect(secrets()).toEqual(before);
    expect([await kept(), await kept()]).toEqual(['here\n', 'here\n']);

    tools.helm(['rollback', 'sandhaven', '1', ...WAIT]);
    expect(deployment().spec.replicas).toBe(1);
    expect(secrets()).toEqual(before);
    expect(await kept()).toBe('here\n');

    tools.helm(['uninstall', 'sandhaven', ...WAIT]);
    expect(tools.kubectl(['-n', NAMESPACE, 'get', 'deployments,services', '-o', 'name']).trim()).toBe('');
    expect(tools.kubectl(['get', 'namespace', BOXES, '-o', 'name']).trim()).toBe(`namespace/${BOXES}`);
    expect(secrets()).toEqual(before);

    tools.helm(['install', 'sandhaven', chart, ...WAIT], values);
    expect(secrets()).toEqual(before);
    expect(await kept()).toBe('here\n');
    await replicas.ok(apiKey(), 'DeleteSandbox', { sandbox });
    expect(tools.kubectl(['-n', BOXES, 'get', 'pods,pvc,secrets', '-o', 'name']).trim()).toBe('');
  }, 240_000);
});

/** Brings the images to the cluster's registry by the product's own command; returns them by digest. */
function push(): string[] {
  const only = ['--only', 'sandhaven', '--only', 'sandhaven-agent'];
  const argv = ['images', 'push', cluster.registry, '--plain-http', '--from', work, ...only];
  const program = join(import.meta.dirname, '../../../bin/sandhaven');
  return execFileSync(program, argv, { encoding: 'utf8' }).trim().split('\n');
}

/** Returns the contents of the sandbox's file, as the next replica reads them. */
async function kept(): Promise<unknown> {
  return (await replicas.ok(apiKey(), 'RunCommand', { sandbox, command: 'cat /tmp/kept' }))['stdout'];
}

function apiKey(): string {
  return Buffer.from(secrets().apiKey, 'base64').toString();
}

function deployment() {
  return JSON.parse(tools.kubectl(['-n', NAMESPACE, 'get', 'deployment', 'sandhaven', '-o', 'json']));
}

function secrets(): { secretKey: string; apiKey: string } {
  const read = (name: string, key: string): string =>
    JSON.parse(tools.kubectl(['-n', NAMESPACE, 'get', 'secret', name, '-o', 'json'])).data[key];
  return {
    secretKey: read('sandhaven-secret-key', 'sandhaven-secret-key'),
    apiKey: read('sandhaven-api-key', 'api-key'),
  };
}
