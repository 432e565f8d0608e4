/** The chart's identity provider, without a cluster: what the service gets of it, and what the schema refuses. */
import { afterAll, describe, expect, it } from 'vitest';
import { parseAllDocuments } from 'yaml';
import { chart, openTools, required, type Values } from './helm.ts';

const tools = openTools(null);
afterAll(() => tools.remove());

const others = {
  ...required({
    service: 'registry.example/sandhaven:1.0.0',
    agent: 'registry.example/sandhaven-agent:1.0.0',
    base: 'registry.example/sandhaven-base:1.0.0',
  }),
  network: { publicUrl: 'https://sandhaven.example.com' },
};
const least = {
  issuer: 'https://login.example.com/realms/team',
  clientId: 'sandhaven',
  existingSecret: 'team-provider',
  memberGroups: ['dev team', 'qa'],
};

interface Pod {
  containers: {
    args?: string[];
    env: { name: string; value?: string; valueFrom?: object }[];
    volumeMounts: { name: string }[];
  }[];
  volumes: { name: string }[];
  securityContext: object;
}

function pod(values: Values): Pod {
  const text = tools.helm(['template', 'sandhaven', chart, '--namespace', 'tools'], { ...others, ...values });
  // As Kubernetes reads it, for which 0440 is octal.
  const objects = parseAllDocuments(text, { version: '1.1' }).map((document) => document.toJS());
  return objects.find((object) => object?.kind === 'Deployment').spec.template.spec;
}

function settings(values: Values): Record<string, unknown> {
  const env = pod(values).containers[0]?.env ?? [];
  const own = env.filter(({ name }) => name.startsWith('SANDHAVEN_OIDC_'));
  return Object.fromEntries(own.map(({ name, value, valueFrom }) => [name, value ?? valueFrom]));
}

describe('the identity provider of the chart', () => {
  it('is none by default, without a volume', () => {
    expect(settings({})).toEqual({});
    expect(pod({}).volumes.map(({ name }) => name)).toEqual(['data', 'tmp', 'credentials']);
  });

  it('is the service’s by environment, where what is empty keeps the service’s own default', () => {
    expect(settings({ oidc: least })).toEqual({
      SANDHAVEN_OIDC_ISSUER: 'https://login.example.com/realms/team',
      SANDHAVEN_OIDC_CLIENT_ID: 'sandhaven',
      SANDHAVEN_OIDC_CLIENT_SECRET_FILE: '/run/sandhaven/oidc/client-secret',
      SANDHAVEN_OIDC_MEMBER_GROUPS: 'dev team,qa',
    });
    const more = {
      ...{ name: 'Keycloak', scopes: ['openid', 'email', 'groups'], groupsClaim: 'roles' },
      ...{ adminGroups: ['ops', 'leads'], emailDomains: ['example.com', 'example.org'] },
    };
    expect(settings({ oidc: { ...least, ...more } })).toMatchObject({
      SANDHAVEN_OIDC_NAME: 'Keycloak',
      SANDHAVEN_OIDC_SCOPES: 'openid,email,groups',
      SANDHAVEN_OIDC_GROUPS_CLAIM: 'roles',
      SANDHAVEN_OIDC_ADMIN_GROUPS: 'ops,leads',
      SANDHAVEN_OIDC_EMAIL_DOMAINS: 'example.com,example.org',
    });
  });

  it('has its secret in a file alone, which the group of the service reads', () => {
    const { containers, volumes, securityContext } = pod({ oidc: least });
    expect(volumes.find(({ name }) => name === 'oidc')).toEqual({
      name: 'oidc',
      secret: {
        secretName: 'team-provider',
        defaultMode: 0o440,
        items: [{ key: 'client-secret', path: 'client-secret' }],
      },
    });
    expect(securityContext).toMatchObject({ runAsUser: 10_001, fsGroup: 10_001 });
    const [service] = containers;
    expect(service?.volumeMounts.find(({ name }) => name === 'oidc')).toEqual({
      ...{ name: 'oidc', mountPath: '/run/sandhaven/oidc', readOnly: true },
    });
    expect(service?.args).toBeUndefined();
    expect(JSON.stringify(service?.env)).not.toContain('team-provider');
  });

  it.each([
    ['an unknown value', { ...least, clientSecret: 'in the open' }, 'clientSecret'],
    ['an issuer without TLS', { ...least, issuer: 'http://login.example.com' }, 'issuer'],
    ['an issuer with a query', { ...least, issuer: 'https://login.example.com?a=b' }, 'issuer'],
    ['no client', { ...least, clientId: '' }, 'clientId'],
    ['no Secret', { ...least, existingSecret: '' }, 'existingSecret'],
    ['nobody who may sign in', { ...least, memberGroups: [] }, 'memberGroups'],
    ['a group with a comma in its name', { ...least, memberGroups: ['dev,qa'] }, 'memberGroups'],
    ['a domain that is none', { ...least, emailDomains: ['@example.com'] }, 'emailDomains'],
    ['a provider without its issuer', { ...least, issuer: '' }, 'clientId'],
  ])('is refused with %s', (_what, oidc, why) => {
    expect(() => pod({ oidc })).toThrow(why);
  });

  it('is refused without the address at which browsers come back', () => {
    expect(() => pod({ oidc: least, network: { publicUrl: '' } })).toThrow('network.publicUrl is missing');
  });
});
