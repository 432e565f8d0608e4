/** Pods find Services by their names, and no other host. */
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import { type Cluster, startCluster } from '../cluster.ts';
import { pushBusybox } from '../images.ts';
import { inPod, runPod } from '../pods.ts';

const SERVICES = '/api/v1/namespaces/default/services';

let cluster: Cluster;
let podIP: string;

beforeAll(async () => {
  cluster = await startCluster();
  const image = pushBusybox(cluster.registry);
  const command = ['sh', '-c', 'mkdir /www; echo hello >/www/index.html; exec httpd -f -p 8080 -h /www'];
  const server = await runPod(cluster, 'server', { image, command, labels: { app: 'server' } });
  podIP = server.status.podIP;
  await runPod(cluster, 'client', { image, command: ['sleep', '100000'], labels: { app: 'client' } });
});
afterAll(() => cluster?.stop());
afterEach(({ task }) => {
  if (task.result?.state === 'fail') console.info(cluster.logs());
});

/** Addresses of a name, or what went wrong. */
function lookUp(name: string): string {
  const said = inPod(cluster, 'client', `nslookup -type=a ${name} 2>&1 || true`);
  const addresses = [...said.matchAll(/^Address: (\S+)$/gm)].map((match) => match[1]);
  return addresses.join(' ') || (/NXDOMAIN|timed out/.exec(said)?.[0] ?? said);
}

describe('a Pod finds', () => {
  it('the API server by its name', () => {
    expect(lookUp('kubernetes.default.svc.cluster.local')).toMatch(/^198\.18\.\d+\.1$/);
  });

  it('a Service by its short name, as soon as it is made', async () => {
    const ports = [{ port: 80, targetPort: 8080 }];
    const { spec } = await cluster.api.create(SERVICES, {
      metadata: { name: 'web' },
      spec: { selector: { app: 'server' }, ports },
    });
    await expect.poll(() => lookUp('web.default.svc.cluster.local')).toBe(spec.clusterIP);
    await expect.poll(() => inPod(cluster, 'client', 'wget -q -T 2 -O - http://web/ || true')).toBe('hello');
  });

  it('the Pods of a headless Service', async () => {
    await cluster.api.create(SERVICES, {
      metadata: { name: 'headless' },
      spec: { clusterIP: 'None', selector: { app: 'server' }, ports: [{ port: 8080 }] },
    });
    await expect.poll(() => lookUp('headless.default.svc.cluster.local')).toBe(podIP);
  });

  it('nothing else', () => {
    expect(lookUp('missing.default.svc.cluster.local')).toBe('NXDOMAIN');
    expect(lookUp('example.org')).toBe('NXDOMAIN');
  });

  it('nothing while the name server is dead', async () => {
    const name = 'kubernetes.default.svc.cluster.local';
    await cluster.parts.nameServer.kill();
    expect(lookUp(name)).not.toMatch(/^198/);
    cluster.parts.nameServer.start();
    await expect.poll(() => lookUp(name), { timeout: 20_000 }).toMatch(/^198\.18\.\d+\.1$/);
  });

  it('names only where a policy lets it ask', async () => {
    const policies = '/apis/networking.k8s.io/v1/namespaces/default/networkpolicies';
    const policy = { podSelector: { matchLabels: { app: 'client' } }, policyTypes: ['Egress'] };
    await cluster.api.create(policies, { metadata: { name: 'nothing' }, spec: policy });
    const web = 'kubernetes.default.svc.cluster.local';
    await expect.poll(() => lookUp(web), { timeout: 30_000 }).toBe('timed out');
    const to = [
      {
        namespaceSelector: { matchLabels: { 'kubernetes.io/metadata.name': 'kube-system' } },
        podSelector: { matchLabels: { 'k8s-app': 'kube-dns' } },
      },
    ];
    const egress = [{ to, ports: [{ port: 53, protocol: 'UDP' }] }];
    await cluster.api.create(policies, { metadata: { name: 'names' }, spec: { ...policy, egress } });
    await expect.poll(() => lookUp(web), { timeout: 30_000 }).toMatch(/^198\.18\.\d+\.1$/);
  }, 60_000);
});
