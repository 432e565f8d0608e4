/** NetworkPolicies become the nftables rules that enforce them on the nodes of the test cluster. */
import { describe, expect, it } from 'vitest';
import { type Policy, type PolicyPod, rulesetOf } from '../cluster/policies/ruleset.ts';
import { matches, type Selector } from '../cluster/policies/selector.ts';

const namespaces = [
  { name: 'default', labels: { team: 'a' } },
  { name: 'other', labels: { team: 'b' } },
];
const web = pod('default', { app: 'web' }, '10.0.0.1', [{ name: 'http', containerPort: 8080 }]);
const client = pod('default', { app: 'client' }, '10.0.0.2', []);
const stranger = pod('other', { app: 'client' }, '10.0.0.3', [{ name: 'http', containerPort: 80 }]);

function pod(namespace: string, labels: Record<string, string>, address: string, ports: PolicyPod['ports']) {
  return { namespace, labels, address, ports };
}

/** The rules of one policy in the namespace `default`, without what all rulesets have in common. */
function rules(policy: Omit<Policy, 'namespace'>): string[] {
  const ruleset = rulesetOf({
    namespaces,
    pods: [web, client, stranger],
    policies: [{ namespace: 'default', ...policy }],
  });
  const common = /^(table|delete|chain forward|type|ct|})/;
  return ruleset
    .split('\n')
    .map((line) => line.trim())
    .filter((line) => line !== '' && !common.test(line));
}

const toWeb = { podSelector: { matchLabels: { app: 'web' } }, policyTypes: ['Ingress'] };
const fromWeb = { podSelector: { matchLabels: { app: 'web' } }, policyTypes: ['Egress'] };
const inJump = 'ip daddr vmap { 10.0.0.1 : jump in_10_0_0_1 }';
const outJump = 'ip saddr vmap { 10.0.0.1 : jump out_10_0_0_1 }';

describe('the rules of a NetworkPolicy', () => {
  it('are none without a policy', () => {
    expect(rulesetOf({ namespaces, pods: [web], policies: [] })).toBe(
      `table ip policies {}
delete table ip policies
table ip policies {
  chain forward {
    type filter hook forward priority filter; policy accept;
    ct state established,related accept
  }
}
`,
    );
  });

  it('drop everything to a Pod that no rule allows', () => {
    expect(rules(toWeb)).toEqual(['chain in_10_0_0_1 {', 'drop', inJump]);
  });

  it('isolate every Pod of the namespace, and of no other, by an empty selector', () => {
    expect(rules({ podSelector: {}, policyTypes: ['Egress'] })).toEqual([
      ...['chain out_10_0_0_1 {', 'drop', 'chain out_10_0_0_2 {', 'drop'],
      'ip saddr vmap { 10.0.0.1 : jump out_10_0_0_1, 10.0.0.2 : jump out_10_0_0_2 }',
    ]);
  });

  it.each<[string, NonNullable<Policy['ingress']>[number], string[]]>([
    ['anybody, any port', {}, ['return']],
    [
      'Pods of the namespace',
      { from: [{ podSelector: {} }] },
      ['ip saddr 10.0.0.1 return', 'ip saddr 10.0.0.2 return'],
    ],
    [
      'Pods by label',
      { from: [{ podSelector: { matchLabels: { app: 'client' } } }] },
      ['ip saddr 10.0.0.2 return'],
    ],
    [
      'Pods of another namespace',
      { from: [{ namespaceSelector: { matchLabels: { team: 'b' } } }] },
      ['ip saddr 10.0.0.3 return'],
    ],
    [
      'addresses with exceptions',
      { from: [{ ipBlock: { cidr: '10.1.0.0/16', except: ['10.1.2.0/24'] } }] },
      ['ip saddr 10.1.0.0/16 ip saddr != { 10.1.2.0/24 } return'],
    ],
    ['a port', { ports: [{ port: 80 }] }, ['tcp dport 80 return']],
    ['a range of ports', { ports: [{ protocol: 'UDP', port: 80, endPort: 90 }] }, ['udp dport 80-90 return']],
    ['a protocol', { ports: [{ protocol: 'UDP' }] }, ['meta l4proto udp return']],
    ['a named port of the Pod itself', { ports: [{ port: 'http' }] }, ['tcp dport 8080 return']],
    ['a named port that it lacks', { ports: [{ port: 'https' }] }, []],
  ])('let in %s', (_what, rule, expected) => {
    expect(rules({ ...toWeb, ingress: [rule] })).toEqual([
      'chain in_10_0_0_1 {',
      ...expected,
      'drop',
      inJump,
    ]);
  });

  it.each<[string, NonNullable<Policy['egress']>, string[]]>([
    ['nobody', [], []],
    ['anybody', [{}], ['return']],
    [
      'Pods on a port',
      [{ to: [{ podSelector: { matchLabels: { app: 'client' } } }], ports: [{ port: 1 }] }],
      ['ip daddr 10.0.0.2 tcp dport 1 return'],
    ],
    [
      'a named port of each receiver',
      [{ to: [{ namespaceSelector: {} }], ports: [{ port: 'http' }] }],
      ['ip daddr 10.0.0.1 tcp dport 8080 return', 'ip daddr 10.0.0.3 tcp dport 80 return'],
    ],
  ])('let out to %s', (_what, egress, expected) => {
    expect(rules({ ...fromWeb, egress })).toEqual(['chain out_10_0_0_1 {', ...expected, 'drop', outJump]);
  });
});

describe('a label selector', () => {
  it.each<[NonNullable<Selector['matchExpressions']>[number], boolean]>([
    [{ key: 'app', operator: 'In', values: ['web', 'db'] }, true],
    [{ key: 'app', operator: 'NotIn', values: ['web'] }, false],
    [{ key: 'none', operator: 'NotIn', values: ['web'] }, true],
    [{ key: 'app', operator: 'Exists' }, true],
    [{ key: 'app', operator: 'DoesNotExist' }, false],
  ])('with %o matches a Pod of the app web: %s', (expression, expected) => {
    expect(matches({ matchExpressions: [expression] }, { app: 'web' })).toBe(expected);
  });
});
