/** The chart without a cluster: Helm finds no fault in it, and the schema finds those of values. */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, describe, expect, it } from 'vitest';
import { parse, parseAllDocuments } from 'yaml';
import { chart, openTools, required, type Values } from './helm.ts';

const tools = openTools(null);
afterAll(() => tools.remove());

const digest = `sha256:${'a'.repeat(64)}`;
const least = required({
  service: `registry.example:5000/team/sandhaven@${digest}`,
  agent: 'registry.example/sandhaven-agent:1.0.0',
  base: `registry.example/sandhaven-base@${digest}`,
});
const everything: Values = {
  ...least,
  replicas: 3,
  sandboxes: { namespace: 'boxes', storageClass: 'fast' },
  store: { url: 'postgres://sandhaven@db.example/sandhaven?sslmode=verify-full', existingSecret: 'database' },
  archives: {
    store: 's3://bucket/prefix',
    encryption: true,
    endpoint: 'https://s3.example',
    pathStyle: 'yes',
    existingSecret: 's3',
  },
  secretKey: { existingSecret: 'sealed' },
  apiKey: { existingSecret: 'admin', key: 'token' },
  adminsReadInside: true,
  publicPorts: true,
  webhookAllow: ['hooks.internal:9000', '10.1.0.0/16'],
  network: {
    publicUrl: 'https://sandhaven.example.com',
    previewUrl: 'https://*.previews.example.com',
    sshPublic: 'ssh.example.com:22',
    trustedProxies: ['10.0.0.0/8', '192.168.0.0/16'],
  },
  oidc: {
    issuer: 'https://login.example.com/realms/team',
    clientId: 'sandhaven',
    existingSecret: 'oidc',
    name: 'Keycloak',
    scopes: ['openid', 'email', 'groups'],
    groupsClaim: 'roles',
    adminGroups: ['ops'],
    memberGroups: ['dev team', 'qa'],
    emailDomains: ['example.com'],
  },
  services: { ssh: { type: 'LoadBalancer', annotations: { a: 'b' } } },
  ingress: {
    enabled: true,
    className: 'nginx',
    apiHost: 'sandhaven.example.com',
    previewsHost: '*.previews.example.com',
    apiTlsSecret: 'api-tls',
  },
  gateway: { enabled: true, parentRefs: [{ name: 'public' }], apiHost: 'sandhaven.example.com' },
  networkPolicy: { from: [{ namespaceSelector: {} }] },
  autoscaling: { enabled: true, metric: 'calls_in_progress' },
  metrics: {
    serviceMonitor: {
      enabled: true,
      existingSecret: 'scraper',
      interval: '30s',
      labels: { release: 'kube' },
    },
  },
  nodeSelector: { disk: 'ssd' },
  tolerations: [{ operator: 'Exists' }],
  extraEnv: [{ name: 'SANDHAVEN_RATE', value: '10/s' }],
};

const render = (values: Values) =>
  parseAllDocuments(tools.helm(['template', 'sandhaven', chart, '--namespace', 'tools'], values))
    .map((document) => document.toJS())
    .filter((object) => object !== null);
const kinds = (values: Values) =>
  render(values)
    .map(({ kind }) => kind)
    .toSorted();

describe('the chart', () => {
  it.each([
    ['the least values', least],
    ['every value', everything],
  ])('has no fault with %s', (_name, values) => {
    expect(tools.helm(['lint', '--strict', chart], values)).toContain('0 chart(s) failed');
  });

  it('makes these objects by default', () => {
    expect(kinds(least)).toEqual([
      'ClusterRole',
      'ClusterRoleBinding',
      'Deployment',
      'Namespace',
      'NetworkPolicy',
      'Pod',
      'Role',
      'RoleBinding',
      'Secret',
      'Secret',
      'Service',
      'Service',
      'Service',
      'ServiceAccount',
    ]);
  });

  it('makes routes, a disruption budget and an autoscaler when asked, and no Secret beside existing ones', () => {
    const made = kinds(everything);
    for (const kind of ['HTTPRoute', 'Ingress', 'PodDisruptionBudget', 'HorizontalPodAutoscaler']) {
      expect(made).toContain(kind);
    }
    expect(made.filter((kind) => kind === 'Ingress')).toHaveLength(2);
    expect(made).not.toContain('Secret');
    const deployment = render(everything).find(({ kind }) => kind === 'Deployment');
    expect(deployment.spec.replicas).toBeUndefined();
  });

  it('gives the service its settings by environment, and secrets by reference alone', () => {
    const deployment = render(everything).find(({ kind }) => kind === 'Deployment');
    const env: { name: string; value?: string; valueFrom?: object }[] =
      deployment.spec.template.spec.containers[0].env;
    const values = Object.fromEntries(env.map(({ name, value, valueFrom }) => [name, value ?? valueFrom]));
    expect(values).toMatchObject({
      SANDHAVEN_PUBLIC_URL: 'https://sandhaven.example.com',
      SANDHAVEN_TRUSTED_PROXY: '10.0.0.0/8,192.168.0.0/16',
      SANDHAVEN_RATE: '10/s',
      SANDHAVEN_ADMINS_READ_INSIDE: 'yes',
      SANDHAVEN_ARCHIVE_ENCRYPTION: 'yes',
      SANDHAVEN_WEBHOOK_ALLOW: 'hooks.internal:9000,10.1.0.0/16',
      SANDBOX_API_KEY: { secretKeyRef: { name: 'admin', key: 'token' } },
      PGPASSWORD: { secretKeyRef: { name: 'database', key: 'password' } },
      AWS_SECRET_ACCESS_KEY: { secretKeyRef: { name: 's3', key: 'secret-access-key' } },
    });
  });

  it('makes a ServiceMonitor only when asked, and with the key by reference alone', () => {
    expect(kinds(least)).not.toContain('ServiceMonitor');
    const { metadata, spec } = render(everything).find(({ kind }) => kind === 'ServiceMonitor');
    expect(metadata.labels).toMatchObject({ release: 'kube', 'app.kubernetes.io/name': 'sandhaven' });
    expect(spec.endpoints).toEqual([
      {
        ...{ port: 'api', path: '/metrics', interval: '30s' },
        authorization: { credentials: { name: 'scraper', key: 'api-key' } },
      },
    ]);
    const services = render(everything).filter(({ kind }) => kind === 'Service');
    const selected = services.filter(({ metadata: { labels } }) =>
      Object.entries(spec.selector.matchLabels).every(([name, value]) => labels[name] === value),
    );
    const scraped = selected.filter((one) =>
      one.spec.ports.some(({ name }: { name: string }) => name === 'api'),
    );
    expect(scraped.map((one) => one.metadata.name)).toEqual(['sandhaven']);
  });

  it('has each of its values in the table of docs/kubernetes.md', () => {
    const table = readFileSync(join(chart, '../../../docs/kubernetes.md'), 'utf8');
    const leaves = (value: unknown, path: string[]): string[] => {
      if (typeof value !== 'object' || value === null || Array.isArray(value)) return [path.join('.')];
      const entries = Object.entries(value);
      return entries.length === 0 || path.length > 1
        ? [path.join('.')]
        : entries.flatMap(([name, inside]) => leaves(inside, [...path, name]));
    };
    const values = parse(readFileSync(join(chart, 'values.yaml'), 'utf8'));
    expect(leaves(values, []).filter((path) => !table.includes(`\`${path}\``))).toEqual([]);
  });

  it.each([
    ['an unknown value', { ...least, replica: 2 }, 'replica'],
    ['an unknown value inside another', { ...least, network: { url: 'x' } }, 'url'],
    ['a password in the address of the store', { ...least, store: { url: 'postgres://a:b@db/x' } }, 'url'],
    ['an image without a tag', { ...least, images: { service: 'registry.example/sandhaven' } }, 'service'],
    ['no replica', { ...least, replicas: 0 }, 'replicas'],
    [
      'a preview address without a wildcard',
      { ...least, network: { previewUrl: 'https://p.example' } },
      'previewUrl',
    ],
    ['no store', { ...least, store: {} }, 'store.url is missing'],
    ['no image', { store: { url: 'postgres://a@db/x' } }, 'is missing: push it'],
    ['one namespace for all', { ...least, sandboxes: { namespace: 'tools' } }, 'must be another namespace'],
    [
      'a ServiceMonitor without a key',
      { ...least, metrics: { serviceMonitor: { enabled: true } } },
      'metrics.serviceMonitor.existingSecret is missing',
    ],
    [
      'a scrape without an interval',
      { ...least, metrics: { serviceMonitor: { interval: '0s' } } },
      'interval',
    ],
    [
      'an autoscaler without a metric',
      { ...least, autoscaling: { enabled: true } },
      'autoscaling.metric is missing',
    ],
  ])('refuses %s', (_name, values, why) => {
    expect(() => render(values)).toThrow(why);
  });
});
