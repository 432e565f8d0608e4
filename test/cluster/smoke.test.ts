/** The test cluster does what the tests on Kubernetes need of it, on this machine and its kernel. */
import { execFileSync } from 'node:child_process';
import { mkdirSync, writeFileSync } from 'node:fs';
import { connect } from 'node:net';
import { join } from 'node:path';
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import { type Cluster, startCluster } from './cluster.ts';
import { pushBusybox, pushFiles } from './images.ts';
import { deletePod, inPod, PODS, runPod } from './pods.ts';

const FOREVER = ['sleep', '100000'];

let cluster: Cluster;
let image: string;

beforeAll(async () => {
  cluster = await startCluster({ nodes: 2 });
  image = pushBusybox(cluster.registry);
});
afterAll(() => cluster?.stop());
afterEach(({ task }) => {
  if (task.result?.state === 'fail') console.info(cluster.logs());
});

describe('the test cluster', () => {
  it('has two nodes that are ready', async () => {
    const { items } = await cluster.api.get('/api/v1/nodes');
    const ready = items.map((node: { metadata: { name: string }; status: { conditions: object[] } }) => [
      node.metadata.name,
      node.status.conditions,
    ]);
    const condition = expect.objectContaining({ type: 'Ready', status: 'True' });
    expect(ready).toEqual([
      ['node1', expect.arrayContaining([condition])],
      ['node2', expect.arrayContaining([condition])],
    ]);
  });

  it('refuses a Pod that its namespace’s Pod security forbids', async () => {
    const labels = { 'pod-security.kubernetes.io/enforce': 'restricted' };
    await cluster.api.create('/api/v1/namespaces', { metadata: { name: 'restricted', labels } });
    const spec = { containers: [{ name: 'main', image, securityContext: { privileged: true } }] };
    const account = '/api/v1/namespaces/restricted/serviceaccounts/default';
    await cluster.api.until(account, ({ kind }) => kind === 'ServiceAccount');
    await expect(
      cluster.api.create('/api/v1/namespaces/restricted/pods', { metadata: { name: 'bad' }, spec }),
    ).rejects.toThrow(/403 .*violates PodSecurity/);
  });

  it('runs a Pod in a user namespace', async () => {
    await runPod(cluster, 'mapped', { image, command: FOREVER, spec: { hostUsers: false } });
    expect(inPod(cluster, 'mapped', 'id -u')).toBe('0');
    const [inside, outside, count] = inPod(cluster, 'mapped', 'cat /proc/self/uid_map').split(/\s+/);
    expect([inside, count]).toEqual(['0', '65536']);
    expect(Number(outside)).toBeGreaterThanOrEqual(65_536);
    await deletePod(cluster, 'mapped');
  });

  it('leads the address of a Service to its server', async () => {
    await runPod(cluster, 'caller', { image, command: FOREVER });
    const call = 'nc -w 5 $KUBERNETES_SERVICE_HOST $KUBERNETES_SERVICE_PORT </dev/null && echo connected';
    expect(inPod(cluster, 'caller', call)).toBe('connected');
    await deletePod(cluster, 'caller');
  });

  it('loses what is sent to a Pod that is gone, and teaches the host no other way to its address', async () => {
    await runPod(cluster, 'brief', { image, command: FOREVER });
    const { status } = await cluster.api.get(`${PODS}/brief`);
    await deletePod(cluster, 'brief');
    // The container may outlive the Pod for a moment.
    await expect.poll(() => answerOf(status.podIP)).toBe('none');
    const route = execFileSync('ip', ['route', 'get', status.podIP], { encoding: 'utf8' });
    expect(route).not.toContain('redirected');
  });

  it('mounts an image as a volume', async () => {
    const reference = pushFiles(cluster.registry, 'agent:1', {}, (root) => {
      mkdirSync(join(root, 'bin'));
      writeFileSync(join(root, 'bin/agent'), 'from the image');
    });
    await runPod(cluster, 'with-agent', {
      image,
      command: FOREVER,
      container: { volumeMounts: [{ name: 'agent', mountPath: '/agent' }] },
      spec: { volumes: [{ name: 'agent', image: { reference } }] },
    });
    expect(inPod(cluster, 'with-agent', 'cat /agent/bin/agent')).toBe('from the image');
    expect(() => inPod(cluster, 'with-agent', 'touch /agent/new')).toThrow(/Read-only file system/);
    await deletePod(cluster, 'with-agent');
  });

  it('keeps a claim’s files beyond its Pod, on a disk of the claim’s size', async () => {
    const claims = '/api/v1/namespaces/default/persistentvolumeclaims';
    await cluster.api.create(claims, {
      metadata: { name: 'disk' },
      spec: { accessModes: ['ReadWriteOnce'], resources: { requests: { storage: '64Mi' } } },
    });
    const options = {
      image,
      command: FOREVER,
      container: { volumeMounts: [{ name: 'disk', mountPath: '/disk' }] },
      spec: { volumes: [{ name: 'disk', persistentVolumeClaim: { claimName: 'disk' } }] },
    };
    await runPod(cluster, 'first', options);
    inPod(cluster, 'first', 'echo kept >/disk/file');
    await deletePod(cluster, 'first');
    await runPod(cluster, 'second', options);
    expect(inPod(cluster, 'second', 'cat /disk/file')).toBe('kept');
    expect(() => inPod(cluster, 'second', 'dd if=/dev/zero of=/disk/big bs=1M count=65')).toThrow(
      /No space left on device/,
    );
    await deletePod(cluster, 'second');
    await cluster.api.delete(`${claims}/disk`);
    await cluster.api.until('/api/v1/persistentvolumes', ({ items }) => items.length === 0);
  });

  it('resizes a running container in place', async () => {
    const resources = { limits: { cpu: '500m', memory: '64Mi' } };
    await runPod(cluster, 'grown', { image, command: FOREVER, container: { resources } });
    const bound = 'cat /sys/fs/cgroup/memory/memory.limit_in_bytes || cat /sys/fs/cgroup/memory.max';
    expect(inPod(cluster, 'grown', bound)).toBe('67108864');
    const larger = { limits: { cpu: '1', memory: '128Mi' }, requests: { cpu: '1', memory: '128Mi' } };
    await cluster.api.patch(`${PODS}/grown/resize`, {
      spec: { containers: [{ name: 'main', resources: larger }] },
    });
    const pod = await cluster.api.until(
      `${PODS}/grown`,
      ({ status }) => status.containerStatuses[0].resources.limits.memory === '128Mi',
    );
    expect(pod.status.containerStatuses[0].restartCount).toBe(0);
    expect(inPod(cluster, 'grown', bound)).toBe('134217728');
    await deletePod(cluster, 'grown');
  });

  it('lets Pods of two nodes and the host reach each other, until a NetworkPolicy denies it', async () => {
    const command = ['sh', '-c', 'mkdir /www; echo hello >/www/index.html; exec httpd -f -p 8080 -h /www'];
    const server = await runPod(cluster, 'server', {
      image,
      command,
      node: 'node1',
      labels: { app: 'server' },
    });
    await runPod(cluster, 'near', { image, command: FOREVER, node: 'node1', labels: { app: 'near' } });
    await runPod(cluster, 'far', { image, command: FOREVER, node: 'node2', labels: { app: 'far' } });
    const url = `http://${server.status.podIP}:8080/`;
    const reaches = (pod: string) => {
      const said = inPod(cluster, pod, `wget -q -T 1 -O - ${url} || echo denied`);
      return said === 'hello';
    };
    const hostReaches = () =>
      fetch(url, { signal: AbortSignal.timeout(1_000) }).then(
        ({ ok }) => ok,
        () => false,
      );
    expect([reaches('near'), reaches('far'), await hostReaches()]).toEqual([true, true, true]);
    const policies = '/apis/networking.k8s.io/v1/namespaces/default/networkpolicies';
    await cluster.api.create(policies, {
      metadata: { name: 'from-far' },
      spec: {
        podSelector: { matchLabels: { app: 'server' } },
        policyTypes: ['Ingress'],
        ingress: [{ from: [{ podSelector: { matchLabels: { app: 'far' } } }], ports: [{ port: 8080 }] }],
      },
    });
    await expect.poll(() => reaches('near'), { timeout: 10_000 }).toBe(false);
    expect([reaches('far'), await hostReaches()]).toEqual([true, false]);
    for (const name of ['server', 'near', 'far']) await deletePod(cluster, name);
  });
});

/** The answer to a connection: `none` when nothing comes back. */
function answerOf(host: string): Promise<string> {
  return new Promise((resolve) => {
    const socket = connect({ host, port: 80, timeout: 1_500 });
    const answered = (answer: string) => {
      socket.destroy();
      resolve(answer);
    };
    socket.on('connect', () => answered('a connection'));
    socket.on('error', ({ message }) => answered(message));
    socket.on('timeout', () => answered('none'));
  });
}
