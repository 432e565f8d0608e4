/** Rules of policies as `nft list` shows them: changed by messages to the kernel, and in a table that is replaced as a whole. */
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { LearningPolicy, NetworkPolicy } from '../../../src/model/network/policy.ts';
import { createTestHost, type Instance, publicAddress, type TestHost } from '../harness.ts';
import { fakeEgress } from './fake-egress.ts';
import { none, open, rules } from './rules.ts';

const sandbox = 'sb_0000000000000001';
let host: TestHost;
let instance: Instance;
let index: number;
let address: string;

beforeAll(async () => {
  host = await createTestHost();
  instance = host.start({ egressPath: fakeEgress(host) });
  await instance.init();
  ({ index, address } = await instance.acquire(sandbox, none));
});

afterAll(async () => {
  await host?.[Symbol.asyncDispose]();
});

/** Lists the chain and the sets of the machine, and the sets and the map that its address is in. */
async function listed(): Promise<string> {
  const table = await host.run('nft', '-y', 'list', 'table', 'inet', `sandhaven_${instance.id}`);
  const blocks = [...table.matchAll(/^\t(set|map|chain) (\S+) \{.*?^\t\}$/gms)];
  const own = blocks.filter(([text, kind, name = '']) => {
    const isOwn = name === `grant_${index}` || name.startsWith(`grant_${index}_`);
    return isOwn || (kind !== 'chain' && name !== 'blocked' && text.includes(address));
  });
  const texts = own.map(([text]) => text.replaceAll(/^\t/gm, '').replaceAll(`grant_${index}`, 'grant_N'));
  return numbered(texts).sort().join('\n').replaceAll(address, 'ADDRESS');
}

/** Sets of grants have names that follow from what they hold: numbers here, in the order of the rules. */
function numbered(texts: string[]): string[] {
  const names = [...texts.join('\n').matchAll(/@(grant_N_[\w-]{18})/g)].map(([, name = '']) => name);
  return texts.map((text) => names.reduce((part, name, i) => part.replaceAll(name, `grant_N_${i}`), text));
}

/** Takes the whole table away, so that it is replaced. */
async function replaced(): Promise<string> {
  await host.run('nft', 'delete', 'table', 'inet', `sandhaven_${instance.id}`);
  await expect.poll(() => listed().catch(() => ''), { timeout: 8_000, interval: 250 }).toContain('ADDRESS');
  return listed();
}

const until = Date.parse('2040-01-01T00:00:00Z');
const addresses: NetworkPolicy = rules(
  `tcp://${publicAddress}:22`,
  'tcp://203.0.113.0/24:8000-8080',
  'tcp://198.51.100.7',
  'udp://203.0.113.9:53',
  'icmp://203.0.113.0/28',
);
const overlapping = rules('udp://203.0.113.0/24:10-20', 'udp://203.0.113.9:15-25', 'udp://203.0.113.9:12');
const learning: LearningPolicy = { mode: 'learn', open: true, rules: [], until };
const { rules: most } = rules('udp://203.0.113.9:53') as NetworkPolicy & { mode: 'rules' };
const withinCeiling: LearningPolicy = { mode: 'learn', open: false, rules: most, until };

const OPEN = `set open_to {
	type ipv4_addr
	elements = { ADDRESS }
}`;
const RULED = `set ruled {
	type ipv4_addr
	elements = { ADDRESS }
}`;
const GRANTED = `map granted {
	type ipv4_addr : verdict
	elements = { ADDRESS : jump grant_N }
}`;

describe.each([
  ['open', open, OPEN],
  [
    'rules for addresses',
    addresses,
    `chain grant_N {
	meta l4proto tcp ct original ip daddr . ct original proto-dst @grant_N_0 accept
	meta l4proto udp ct original ip daddr . ct original proto-dst @grant_N_1 accept
	ct original ip daddr . ct protocol @grant_N_2 accept
}
${GRANTED}
set grant_N_0 {
	type ipv4_addr . inet_service
	flags interval
	elements = { 203.0.113.0/24 . 8000-8080,
		     198.51.100.7 . 1-65535,
		     198.51.100.2 . 22 }
}
set grant_N_1 {
	type ipv4_addr . inet_service
	flags interval
	elements = { 203.0.113.9 . 53 }
}
set grant_N_2 {
	type ipv4_addr . inet_proto
	flags interval
	elements = { 203.0.113.0/28 . icmp }
}
${RULED}`,
  ],
  [
    'other rules, of which some overlap',
    overlapping,
    `chain grant_N {
	meta l4proto udp ct original ip daddr . ct original proto-dst @grant_N_0 accept
	meta l4proto udp ct original ip daddr . ct original proto-dst @grant_N_1 accept
}
${GRANTED}
set grant_N_0 {
	type ipv4_addr . inet_service
	flags interval
	elements = { 203.0.113.0/24 . 10-20 }
}
set grant_N_1 {
	type ipv4_addr . inet_service
	flags interval
	elements = { 203.0.113.9 . 15-25 }
}
${RULED}`,
  ],
  [
    'learning',
    learning,
    `chain grant_N {
	meta time < "2040-01-01 00:00:00" meta l4proto icmp goto accept_noted
	meta time < "2040-01-01 00:00:00" meta l4proto udp ct original proto-dst != 443 goto accept_noted
}
${GRANTED}
${RULED}`,
  ],
  [
    'learning within a ceiling',
    withinCeiling,
    `chain grant_N {
	meta l4proto udp ct original ip daddr . ct original proto-dst @grant_N_0 goto accept_noted
}
${GRANTED}
set grant_N_0 {
	type ipv4_addr . inet_service
	flags interval
	elements = { 203.0.113.9 . 53 }
}
${RULED}`,
  ],
])('%s', (_, policy, expected) => {
  it('is the same rules by messages, from any policy before, and in a table that is replaced', async () => {
    for (const before of [none, open, addresses, learning]) {
      await instance.setNetwork(sandbox, before);
      await instance.setNetwork(sandbox, policy);
      expect(await listed()).toBe(expected);
    }
    expect(await replaced()).toBe(expected);
    expect(instance.log()).not.toContain('policies could not be changed');
  });
});

it('nothing is left of a policy that was withdrawn, nor of one in a table that was replaced', async () => {
  await instance.setNetwork(sandbox, addresses);
  await replaced();
  await instance.setNetwork(sandbox, none);
  expect(await listed()).toBe('');
  expect(instance.log()).not.toContain('policies could not be changed');
});

it('a change with as many rules as a sandbox may have is one transaction', async () => {
  const many = rules(...Array.from({ length: 1_000 }, (_, i) => `tcp://203.0.${i >> 8}.${i % 256}:${i + 1}`));
  await instance.setNetwork(sandbox, many);
  const chain = await host.run('nft', 'list', 'chain', 'inet', `sandhaven_${instance.id}`, `grant_${index}`);
  const [name = '', ...others] = chain.match(/(?<=@)grant_\S+/g) ?? [];
  expect(others).toEqual([]);
  const set = await host.run('nft', '-j', 'list', 'set', 'inet', `sandhaven_${instance.id}`, name);
  expect(JSON.parse(set).nftables[1].set.elem).toHaveLength(1_000);
  expect(instance.log()).not.toContain('policies could not be changed');
});
