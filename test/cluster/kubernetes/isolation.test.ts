/** The attempts of `test/isolation` from inside a Pod, and those that only a cluster invites. */
import { randomBytes } from 'node:crypto';
import { once } from 'node:events';
import { lstatSync, rmSync, writeFileSync } from 'node:fs';
import { buffer } from 'node:stream/consumers';
import { connect } from 'node:tls';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { Runtime } from '../../../src/control/ports/index.ts';
import { newSandboxId } from '../../../src/model/ids.ts';
import { AGENT_PORT } from '../../../src/runtime/kubernetes/client/settings.ts';
import { attempts, commandOf } from '../../isolation/attempts.ts';
import { agentLimits, hiddenCounts, pageCache } from '../../isolation/probes.ts';
import { type Cluster, startCluster } from '../cluster.ts';
import { PODS } from '../pods.ts';
import { agentOf, openHost, pushBase } from './host.ts';

/** Attempts that a Pod cannot stop; docs/internals/kubernetes-pod.md says why. */
const BEYOND_A_POD = new Set(['connect to the service by the gateway']);

const KUBELET = 10250;
const secret = randomBytes(16).toString('hex');
const marker = `/var/tmp/sandhaven-marker-${secret.slice(0, 8)}`;
const attacker = newSandboxId();
const sibling = newSandboxId();

let cluster: Cluster;
let runtime: Runtime;
let facts: Record<string, string>;
/** Addresses where it must reach nobody. */
let otherNode: string;
let ownNode: string;
let apiServers: string[];

beforeAll(async () => {
  writeFileSync(marker, secret, { mode: 0o644 });
  cluster = await startCluster({ nodes: 2 });
  runtime = await (await openHost(cluster, { image: pushBase(cluster.registry) })).open();
  const resources = { cpu: 1, memory: 1, disk: 1, gpu: 0 };
  for (const id of [attacker, sibling]) await runtime.start({ id, imageDigest: 'base', resources }, 1);
  await run(sibling, 'nohup python3 -m http.server 8000 >/dev/null 2>&1 &');
  const { nodeName } = (await podOf(attacker)).spec;
  ownNode = cluster.nodes.find(({ name }) => name === nodeName)?.address ?? '';
  otherNode = cluster.nodes.find(({ name }) => name !== nodeName)?.address ?? '';
  const service = await cluster.api.get('/api/v1/namespaces/default/services/kubernetes');
  apiServers = [`${service.spec.clusterIPs[0]}:443`, `${cluster.registry.split(':')[0]}:6443`];
  const disk = lstatSync('/').dev;
  facts = {
    ...{ marker, secret, dataDir: '/var/lib/kubelet', hostPort: String(KUBELET) },
    hostAddresses: JSON.stringify([otherNode]),
    sibling: (await podOf(sibling)).status.podIP,
    diskMajor: String((disk >> 8) & 0xfff),
    diskMinor: String((disk & 0xff) | ((disk >> 12) & 0xfff00)),
  };
}, 400_000);

afterAll(async () => {
  rmSync(marker, { force: true });
  await runtime?.close();
  await cluster?.stop();
});

it('a policy holds, and lets through what it allows', async () => {
  const dns = await cluster.api.get('/api/v1/namespaces/kube-system/services/kube-dns');
  await expect.poll(() => reaches(`${dns.spec.clusterIP}:53`), { timeout: 10_000 }).toBe('yes');
  // It answers itself: what does not reach it is refused on the way.
  await expect.poll(() => run(sibling, REACHES_ITSELF), { timeout: 10_000 }).toBe('200');
  // The test cluster enforces one some hundredths of a second after a Pod has its address.
  await expect.poll(() => reaches(`${facts['sibling']}:8000`), { timeout: 10_000 }).toBe('no');
});

describe('from inside a Pod, an attacker cannot', () => {
  for (const attempt of attempts.filter(({ name }) => !BEYOND_A_POD.has(name))) {
    it(attempt.name, async () => {
      const output = await run(attacker, commandOf(attempt, facts));
      expect(output).toContain('stopped');
      expect(output).not.toContain('ESCAPED');
    });
  }

  it('reach the API server, kubelets of other nodes, the agent of a sibling, or metadata', async () => {
    const addresses = [
      ...apiServers,
      `${otherNode}:${KUBELET}`,
      `${facts['sibling']}:${AGENT_PORT}`,
      '169.254.169.254:80',
    ];
    for (const address of addresses) expect(await reaches(address), address).toBe('no');
  });

  it('make its own kubelet do anything: it asks for credentials', async () => {
    const ask = `curl -sk -m 5 -o /dev/null -w '%{http_code}' https://${ownNode}:${KUBELET}`;
    expect(await run(attacker, `${ask}/pods; echo; ${ask}/runningpods/`)).toMatch(/^(401|000)\n(401|000)$/);
  });

  it('use an account of the cluster', async () => {
    expect(await run(attacker, 'ls /var/run/secrets /run/secrets 2>&1 | grep -c "No such file"')).toBe('2');
    expect(await run(attacker, 'env; tr "\\0" "\\n" < /proc/self/environ')).not.toMatch(/KUBERNETES/);
  });

  it('use the certificate of its own agent on another sandbox', async () => {
    const answers = async (id: string) => {
      const { data } = await cluster.api.get(`/api/v1/namespaces/default/secrets/${nameOf(id)}-1`);
      const pem = (name: string) => Buffer.from(data[name], 'base64');
      const socket = connect({
        ...{ host: facts['sibling'] ?? '', port: AGENT_PORT, rejectUnauthorized: false },
        ...{ key: pem('tls.key'), cert: pem('tls.crt'), ca: pem('ca.crt') },
      });
      const failed = once(socket, 'error').then(([error]) => String(error.code));
      const ended = buffer(socket).then((said) => `closed after ${said.length} bytes`, String);
      const greeting = JSON.stringify({ op: 'hello', versions: [1], sandbox_id: sibling, generation: 1 });
      const header = Buffer.alloc(5);
      header.writeUInt32LE(greeting.length);
      header[4] = 1;
      socket.write(Buffer.concat([header, Buffer.from(greeting)]));
      return Promise.race([failed, ended]);
    };
    for (const id of [attacker, sibling])
      expect(await answers(id)).toMatch(/^(ERR_SSL_|ECONNRESET|closed after 0)/);
    expect(await agentOf(runtime).hello(sibling, 1)).toMatchObject({ persistence: 'root' });
  });
});

describe('root in a Pod', () => {
  it('changes neither limits nor priorities nor processors of the agent', async () => {
    expect((await run(attacker, agentLimits.command)).split('\n')).toEqual(agentLimits.says);
  });

  it('sees nothing of the reads of others, or of the work of the node', async () => {
    expect((await run(attacker, pageCache.command)).split('\n')).toEqual(pageCache.says);
    expect((await run(attacker, hiddenCounts.command)).split('\n')).toEqual(hiddenCounts.says);
  });
});

it('after all of it, both sandboxes answer', async () => {
  expect(await run(attacker, 'echo alive')).toBe('alive');
  expect(await run(sibling, REACHES_ITSELF)).toBe('200');
});

const REACHES_ITSELF = 'curl -s -o /dev/null -w "%{http_code}" http://127.0.0.1:8000/';
const nameOf = (id: string) => `sandbox-${id.replace('_', '-')}`;
const podOf = (id: string) => cluster.api.get(`${PODS}/${nameOf(id)}`);

async function run(id: string, text: string): Promise<string> {
  const env = { PATH: '/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin', HOME: '/root' };
  const argv = ['bash', '-c', text];
  const { output } = await agentOf(runtime).exec(id, { argv, cwd: '.', env, timeoutMs: 60_000 });
  return output.trim();
}

/** Whether a connection of the attacker is taken. */
function reaches(address: string): Promise<string> {
  const [host, port] = address.split(':');
  return run(
    attacker,
    `timeout 2 bash -c 'exec 3<>/dev/tcp/${host}/${port}' 2>/dev/null && echo yes || echo no`,
  );
}
