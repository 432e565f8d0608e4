/**
 * Accept rules in other programs' firewalls that drop unknown traffic (Docker sets such a policy on FORWARD). An
 * accept in our own table cannot overrule a drop, so each such chain gets an accept for our interfaces in front,
 * marked with the table's name and removed with it. Chains of iptables are changed through iptables only: it
 * refuses to work on a table with rules that it did not write.
 */
import { readFileSync } from 'node:fs';
import { interfacePrefix, tableOf } from '../host/plan.ts';
import { runCommand } from './command.ts';

export interface Chain {
  family: string;
  table: string;
  name: string;
  hook?: string;
  policy?: string;
}

export async function listChains(): Promise<Chain[]> {
  return (await nftJson(['list', 'chains'])).flatMap(({ chain }) => chain ?? []);
}

/** Lets this instance's traffic through forwarding chains of nftables with a drop policy. */
export async function acceptInForeignChains(instanceId: string, chains: Chain[]): Promise<void> {
  for (const chain of foreignForwardChains(chains).filter(({ policy }) => policy === 'drop')) {
    if (await isIptables(chain)) await acceptInIptables('iptables-nft', instanceId);
    else await acceptInChain(chain, instanceId);
  }
}

/** The same for the older tables of iptables, whose changes nftables does not count. */
export async function acceptInLegacyChains(instanceId: string): Promise<void> {
  if (legacyFilterLoaded() && (await legacyPolicy()) === 'DROP') {
    await acceptInIptables('iptables-legacy', instanceId);
  }
}

export async function withdrawFromForeignChains(instanceId: string): Promise<void> {
  for (const chain of foreignForwardChains(await listChains())) {
    if (await isIptables(chain)) await withdrawFromIptables('iptables-nft', instanceId);
    else await withdrawFromChain(chain, instanceId);
  }
  if (legacyFilterLoaded()) await withdrawFromIptables('iptables-legacy', instanceId);
}

function foreignForwardChains(chains: Chain[]): Chain[] {
  return chains.filter(
    ({ hook, family, table }) =>
      hook === 'forward' && ['ip', 'inet'].includes(family) && !table.startsWith('sandhaven_'),
  );
}

/** Recognizes a chain of iptables by its names; on a host without iptables, these names are another program's. */
async function isIptables({ family, table, name }: Chain): Promise<boolean> {
  if (family !== 'ip' || table !== 'filter' || name !== 'FORWARD') return false;
  return succeeds('iptables-nft', ['--version']);
}

async function acceptInChain({ family, table, name }: Chain, instanceId: string): Promise<void> {
  if ((await ownRules({ family, table, name }, instanceId)).length > 0) return;
  const machines = `"${interfacePrefix(instanceId)}*"`;
  const mark = `accept comment "${tableOf(instanceId)}"`;
  await runCommand(
    'nft',
    ['-f', '-'],
    `insert rule ${family} ${table} ${name} iifname ${machines} ${mark}
insert rule ${family} ${table} ${name} oifname ${machines} ct state established,related ${mark}
`,
  );
}

async function withdrawFromChain(chain: Chain, instanceId: string): Promise<void> {
  for (const handle of await ownRules(chain, instanceId)) {
    const { family, table, name } = chain;
    await runCommand('nft', ['delete', 'rule', family, table, name, 'handle', String(handle)]);
  }
}

/** Handles of the rules in the chain with our mark. */
async function ownRules({ family, table, name }: Chain, instanceId: string): Promise<number[]> {
  const rows = await nftJson(['list', 'chain', family, table, name]);
  return rows.flatMap(({ rule }) => (rule?.comment === tableOf(instanceId) ? rule.handle : []));
}

type Iptables = 'iptables-nft' | 'iptables-legacy';

async function acceptInIptables(iptables: Iptables, instanceId: string): Promise<void> {
  for (const rule of iptablesRules(instanceId)) {
    if (!(await hasRule(iptables, rule))) await runCommand(iptables, ['-w', '-I', 'FORWARD', ...rule]);
  }
}

async function withdrawFromIptables(iptables: Iptables, instanceId: string): Promise<void> {
  for (const rule of iptablesRules(instanceId)) {
    while (await hasRule(iptables, rule)) await runCommand(iptables, ['-w', '-D', 'FORWARD', ...rule]);
  }
}

function hasRule(iptables: Iptables, rule: string[]): Promise<boolean> {
  return succeeds(iptables, ['-w', '-C', 'FORWARD', ...rule]);
}

function succeeds(command: string, args: string[]): Promise<boolean> {
  return runCommand(command, args).then(
    () => true,
    () => false,
  );
}

function iptablesRules(instanceId: string): string[][] {
  const machines = `${interfacePrefix(instanceId)}+`;
  const mark = ['-m', 'comment', '--comment', tableOf(instanceId), '-j', 'ACCEPT'];
  return [
    ['-i', machines, ...mark],
    ['-o', machines, '-m', 'conntrack', '--ctstate', 'RELATED,ESTABLISHED', ...mark],
  ];
}

/** Reads the answer from the kernel: running iptables-legacy would load its module. */
function legacyFilterLoaded(): boolean {
  try {
    return /^filter$/m.test(readFileSync('/proc/net/ip_tables_names', 'utf8'));
  } catch {
    return false;
  }
}

async function legacyPolicy(): Promise<string | undefined> {
  const rules = await runCommand('iptables-legacy', ['-w', '-S', 'FORWARD']);
  return /^-P FORWARD (\w+)$/m.exec(rules)?.[1];
}

interface NftRow {
  chain?: Chain;
  rule?: { handle: number; comment?: string };
  set?: { family: string; table: string; name: string };
}

/** Runs nft for an answer in its JSON form. */
export async function nftJson(args: string[]): Promise<NftRow[]> {
  return JSON.parse(await runCommand('nft', ['-j', ...args])).nftables;
}
