/** The NetworkPolicy of an instance, literally, and access to the API as a kubeconfig describes it. */
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { findConnection } from '../../src/runtime/kubernetes/client/connection.ts';
import { eventsOf } from '../../src/runtime/kubernetes/client/informer.ts';
import type { KubernetesSettings } from '../../src/runtime/kubernetes/client/settings.ts';
import { policyOf } from '../../src/runtime/kubernetes/network-policy.ts';

const settings: KubernetesSettings = {
  instanceId: 'abc123',
  namespace: 'sandboxes',
  agentImage: 'a',
  storageClass: null,
  runtimeClass: null,
  gpuResource: 'nvidia.com/gpu',
  network: { serviceNamespace: null, clients: ['203.0.113.9/32'], refused: [] },
};
const labels = { 'app.kubernetes.io/managed-by': 'sandhaven', 'sandhaven.dev/instance': 'abc123' };

it('a policy admits the service from a namespace of its own', () => {
  const network = { serviceNamespace: 'service', clients: [], refused: [] };
  const ingress = [
    {
      from: [
        {
          namespaceSelector: { matchLabels: { 'kubernetes.io/metadata.name': 'service' } },
          podSelector: { matchLabels: { 'app.kubernetes.io/name': 'sandhaven' } },
        },
      ],
      ports: [{ protocol: 'TCP', port: 7421 }],
    },
  ];
  expect(policyOf({ ...settings, network }, []).spec).toMatchObject({ ingress });
});

it('a policy lets sandboxes out to public addresses and DNS alone, and in only the service', () => {
  const policy = policyOf(settings, ['8.8.0.0/16', '10.0.0.0/8', '2001:db8::/32']);
  expect(policy).toEqual({
    apiVersion: 'networking.k8s.io/v1',
    kind: 'NetworkPolicy',
    metadata: { name: 'sandhaven-abc123', namespace: 'sandboxes', labels },
    spec: {
      podSelector: { matchLabels: labels },
      policyTypes: ['Ingress', 'Egress'],
      ingress: [
        {
          from: [
            { podSelector: { matchLabels: { 'app.kubernetes.io/name': 'sandhaven' } } },
            { ipBlock: { cidr: '203.0.113.9/32' } },
          ],
          ports: [{ protocol: 'TCP', port: 7421 }],
        },
      ],
      egress: [
        {
          to: [
            {
              namespaceSelector: { matchLabels: { 'kubernetes.io/metadata.name': 'kube-system' } },
              podSelector: { matchLabels: { 'k8s-app': 'kube-dns' } },
            },
          ],
          ports: [
            { protocol: 'UDP', port: 53 },
            { protocol: 'TCP', port: 53 },
          ],
        },
        {
          to: [
            {
              ipBlock: {
                cidr: '0.0.0.0/0',
                except: [
                  ...['0.0.0.0/8', '10.0.0.0/8', '100.64.0.0/10', '127.0.0.0/8', '168.63.129.16/32'],
                  ...[
                    '169.254.0.0/16',
                    '172.16.0.0/12',
                    '192.0.0.0/24',
                    '192.0.2.0/24',
                    '192.168.0.0/16',
                    '192.88.99.0/24',
                  ],
                  ...['198.18.0.0/15', '224.0.0.0/3', '8.8.0.0/16'],
                ],
              },
            },
          ],
        },
      ],
    },
  });
});

describe('a kubeconfig', () => {
  let folder = '';
  beforeEach(() => {
    folder = mkdtempSync(join(tmpdir(), 'sandhaven-kubeconfig-'));
  });
  afterEach(() => rmSync(folder, { recursive: true, force: true }));

  const base64 = (text: string) => Buffer.from(text).toString('base64');
  async function read(user: object, cluster: object = {}) {
    const config = {
      'current-context': 'c',
      contexts: [{ name: 'c', context: { cluster: 'k', user: 'u', namespace: 'n' } }],
      clusters: [{ name: 'k', cluster: { server: 'https://api.example:6443', ...cluster } }],
      users: [{ name: 'u', user }],
    };
    const file = join(folder, 'config');
    writeFileSync(file, JSON.stringify(config));
    return findConnection(file);
  }

  it('gives the server, its authority and the credentials', async () => {
    const data = { 'client-certificate-data': base64('cert'), 'client-key-data': base64('key') };
    const found = await read(data, { 'certificate-authority-data': base64('ca') });
    expect(found.server.href).toBe('https://api.example:6443/');
    expect(found.tls).toEqual({ ca: 'ca', cert: 'cert', key: 'key' });
    expect(found.namespace).toBe('n');
    expect(await found.token()).toBeNull();
    expect(await (await read({ token: 't' })).token()).toBe('t');
  });

  it.each([
    ['that does not verify the server', {}, { 'insecure-skip-tls-verify': true }],
    ['without TLS', {}, { server: 'http://api.example' }],
    ['whose user is a program', { exec: { command: 'login' } }, {}],
    ['whose user has a password', { username: 'u' }, {}],
    ['whose key is missing', { 'client-key': 'no-such-file' }, {}],
  ])('%s is refused, with its name', async (_, user, cluster) => {
    await expect(read(user, cluster)).rejects.toMatchObject({
      code: 'failed_precondition',
      message: expect.stringContaining(folder),
    });
  });
});

describe('a watch', () => {
  async function* inPieces(text: string, size: number) {
    for (let from = 0; from < text.length; from += size) yield Buffer.from(text.slice(from, from + size));
  }

  it.each([1, 7, 1_000])('has an event a line, wherever the network cuts it (%s bytes)', async (size) => {
    const lines = [
      { type: 'ADDED', object: { metadata: { name: 'a' } } },
      { type: 'DELETED', object: { metadata: { name: 'a' } } },
    ];
    const text = lines.map((line) => `${JSON.stringify(line)}\n`).join('');
    const seen: object[] = [];
    for await (const event of eventsOf(inPieces(text, size))) seen.push(event);
    expect(seen).toEqual(lines);
  });
});
