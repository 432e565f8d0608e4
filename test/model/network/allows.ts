/** Decides one connection by one rule, as the egress program does: the plainest form, for comparison. */
import type { NetworkRule } from '../../../src/model/network/policy.ts';

export interface Connection {
  kind: 'tls' | 'http' | 'tcp' | 'udp' | 'icmp';
  /** The name that the client says, or for which the resolver gave the address; null for none. */
  name: string | null;
  address: string;
  port: number;
  /** Of `http`. */
  method?: string;
  path?: string;
}

const KINDS: Record<NetworkRule['protocol'], Connection['kind'][]> = {
  https: ['tls'],
  http: ['http'],
  tcp: ['tls', 'http', 'tcp'],
  udp: ['udp'],
  icmp: ['icmp'],
};

export function allows(rule: NetworkRule, { kind, name, address, port, method, path }: Connection): boolean {
  if (!KINDS[rule.protocol].includes(kind)) return false;
  if (rule.ports !== null && (port < rule.ports[0] || port > rule.ports[1])) return false;
  if (rule.address !== null && !isWithin(address, rule.address)) return false;
  if (rule.host !== null && !(name !== null && isNamed(name, rule.host))) return false;
  if (rule.methods.length > 0 && !rule.methods.includes(method ?? '')) return false;
  return rule.path === null || `${path}/`.startsWith(`${rule.path}/`);
}

function isNamed(name: string, host: string): boolean {
  if (!host.startsWith('*.')) return name === host;
  const labels = host.slice(2).split('.');
  const own = name.split('.');
  return own.length > labels.length && own.slice(-labels.length).join('.') === labels.join('.');
}

function isWithin(address: string, range: string): boolean {
  const [network = '', prefix = ''] = range.split('/');
  return bitsOf(address).startsWith(bitsOf(network).slice(0, Number(prefix)));
}

function bitsOf(address: string): string {
  return address
    .split('.')
    .map((byte) => Number(byte).toString(2).padStart(8, '0'))
    .join('');
}
