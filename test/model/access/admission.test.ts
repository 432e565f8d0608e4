/** Admission by the identity provider, in all its combinations of groups and domains. */
import { describe, expect, it } from 'vitest';
import { type AdmissionRules, admit } from '../../../src/model/access/admission.ts';

const nobody = { email: null, emailVerified: null, groups: null };
const ada = { email: 'ada@example.com', emailVerified: true, groups: ['dev'] };
const rules = (more: Partial<AdmissionRules>): AdmissionRules => ({
  ...{ adminGroups: [], memberGroups: [], emailDomains: [] },
  ...more,
});

describe('admission', () => {
  it.each([
    ['of a member', rules({ memberGroups: ['dev'] }), ada, null],
    [
      'of a member, where others are admins',
      rules({ memberGroups: ['dev'], adminGroups: ['ops'] }),
      ada,
      'member',
    ],
    ['of an admin', rules({ memberGroups: ['qa'], adminGroups: ['dev'] }), ada, 'admin'],
    ['of an admin who is a member too', rules({ memberGroups: ['dev'], adminGroups: ['dev'] }), ada, 'admin'],
    ['by domain', rules({ emailDomains: ['example.com'] }), { ...ada, groups: null }, null],
    [
      'by domain in any case',
      rules({ emailDomains: ['example.com'] }),
      { ...ada, email: 'Ada@Example.COM' },
      null,
    ],
    [
      'by domain, where others are admins',
      rules({ emailDomains: ['example.com'], adminGroups: ['ops'] }),
      ada,
      'member',
    ],
    ['without an address, by group', rules({ memberGroups: ['dev'] }), { ...nobody, groups: ['dev'] }, null],
  ])('%s', (_what, given, claims, role) => {
    expect(admit(claims, given)).toBe(role);
  });

  it.each([
    ['without groups', rules({ memberGroups: ['dev'] }), nobody],
    ['in another group', rules({ memberGroups: ['dev'] }), { ...ada, groups: ['devs', 'DEV'] }],
    ['where only admins come in', rules({ adminGroups: ['ops'] }), ada],
    ['of another domain', rules({ emailDomains: ['example.org'] }), ada],
    [
      'of a domain that only looks alike',
      rules({ emailDomains: ['example.com'] }),
      { ...ada, email: 'a@x.example.com' },
    ],
    [
      'with a domain before the last @',
      rules({ emailDomains: ['example.com'] }),
      { ...ada, email: 'a@example.com@b.org' },
    ],
    [
      'with the group, of another domain',
      rules({ memberGroups: ['dev'], emailDomains: ['example.org'] }),
      ada,
    ],
    ['with the domain, in no group', rules({ memberGroups: ['qa'], emailDomains: ['example.com'] }), ada],
    [
      'with an address that nobody has confirmed',
      rules({ emailDomains: ['example.com'] }),
      { ...ada, emailVerified: null },
    ],
    [
      'with an address that is not theirs',
      rules({ memberGroups: ['dev'] }),
      { ...ada, emailVerified: false },
    ],
    [
      'with an admin group, of another domain',
      rules({ adminGroups: ['dev'], emailDomains: ['example.org'] }),
      ada,
    ],
  ])('is refused %s', (_what, given, claims) => {
    expect(() => admit(claims, given)).toThrow(expect.objectContaining({ code: 'permission_denied' }));
  });
});
