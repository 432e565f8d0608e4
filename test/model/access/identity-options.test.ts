/** Options of the identity provider: complete, limited to somebody, and without a secret in a flag. */
import { describe, expect, it } from 'vitest';
import { parseUpOptions } from '../../../src/app/options/up-options.ts';

const given = {
  '--oidc-issuer': 'https://login.example.com/realms/team',
  '--oidc-client-id': 'sandhaven',
  '--oidc-client-secret-file': '/etc/sandhaven/oidc-secret',
  '--oidc-member-groups': 'dev',
};

function parse(other: Record<string, string> = {}, without: string[] = []) {
  const flags = Object.entries({ ...given, ...other }).filter(([flag]) => !without.includes(flag));
  return parseUpOptions(
    flags.map(([flag, value]) => `${flag}=${value}`),
    {},
  ).identity;
}

const refused = (parameter: string) =>
  expect.objectContaining({ code: 'invalid_argument', fields: expect.objectContaining({ parameter }) });

describe('the options of the identity provider', () => {
  it('are none by default', () => {
    expect(parseUpOptions([], {}).identity).toBeNull();
  });

  it('have the usual scopes, claim and name', () => {
    expect(parse()).toEqual({
      issuer: 'https://login.example.com/realms/team',
      clientId: 'sandhaven',
      clientSecretFile: '/etc/sandhaven/oidc-secret',
      scopes: ['openid', 'email', 'profile'],
      groupsClaim: 'groups',
      rules: { adminGroups: [], memberGroups: ['dev'], emailDomains: [] },
      name: 'your team account',
    });
  });

  it('are lists with commas, and always ask for openid', () => {
    const more = {
      '--oidc-scopes': 'email groups',
      '--oidc-admin-groups': 'ops, on call ,ops',
      '--oidc-name': 'Okta',
    };
    expect(parse({ ...more, '--oidc-email-domains': 'Example.com,example.org' })).toMatchObject({
      scopes: ['openid', 'email', 'groups'],
      rules: {
        adminGroups: ['ops', 'on call'],
        memberGroups: ['dev'],
        emailDomains: ['example.com', 'example.org'],
      },
      name: 'Okta',
    });
  });

  it.each(['--oidc-issuer', '--oidc-client-id', '--oidc-client-secret-file'])('need %s', (flag) => {
    expect(() => parse({}, [flag])).toThrow(refused(flag));
  });

  it('limit who comes in: an account at the provider is not enough', () => {
    expect(() => parse({}, ['--oidc-member-groups'])).toThrow(refused('--oidc-member-groups'));
    expect(parse({ '--oidc-email-domains': 'example.com' }, ['--oidc-member-groups'])).not.toBeNull();
    expect(parse({ '--oidc-admin-groups': 'ops' }, ['--oidc-member-groups'])).not.toBeNull();
  });

  it.each([
    ['--oidc-issuer', 'http://login.example.com'],
    ['--oidc-issuer', 'https://user:password@login.example.com'],
    ['--oidc-issuer', 'https://login.example.com/?tenant=1'],
    ['--oidc-issuer', 'https://login.example.com/#x'],
    ['--oidc-issuer', 'login.example.com'],
    ['--oidc-issuer', 'http://127.0.0.1.evil.example'],
    ['--oidc-issuer', `https://login.example.com/${'x'.repeat(500)}`],
    ['--oidc-scopes', 'a"b'],
    ['--oidc-groups-claim', 'x'.repeat(257)],
    ['--oidc-member-groups', 'x'.repeat(257)],
    ['--oidc-member-groups', Array.from({ length: 101 }, (_, at) => `g${at}`).join()],
    ['--oidc-email-domains', 'example'],
    ['--oidc-email-domains', '@example.com'],
    ['--oidc-name', 'x'.repeat(41)],
    ['--oidc-name', 'a\u0007b'],
  ])('refuse %s %s', (flag, value) => {
    expect(() => parse({ [flag]: value })).toThrow(refused(flag));
  });

  it.each(['http://127.0.0.1:8080', 'http://localhost:8080/realms/a', 'http://[::1]:1'])(
    'allow %s without TLS, on this machine',
    (issuer) => {
      expect(parse({ '--oidc-issuer': issuer })).toMatchObject({ issuer });
    },
  );
});
