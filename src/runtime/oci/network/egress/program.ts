/**
 * Start of the egress program, through the launcher, so that it is inside the fence. Its user is the first id of the slot
 * that gives the gateway its address: locked for this instance alone, so no other program of the host has it.
 */
import { blockedIPv4 } from '../../../../model/network/public-addresses.ts';
import { startProgram } from '../../../start-program.ts';
import type { EgressProgram } from './conversation.ts';

/** Variables by which OpenSSL's users name the authorities that a host trusts; the program reads them like those. */
const TRUST_VARIABLES = ['SSL_CERT_FILE', 'SSL_CERT_DIR'];

export interface EgressPlace {
  launcherPath: string;
  egressPath: string;
  /** Address that it listens on. */
  gateway: string;
  uid: number;
  /** Arguments of the launcher that put it into the fence. */
  fence: string[];
}

export function startEgressProgram(place: EgressPlace): Promise<EgressProgram> {
  const { launcherPath, egressPath, gateway, uid, fence } = place;
  const args = [
    'exec',
    ...[...fence, '--', egressPath],
    ...['--gateway', gateway],
    ...['--public-except', blockedIPv4.join(',')],
    ...['--uid', String(uid), '--gid', String(uid)],
  ];
  return startProgram(launcherPath, args, { input: true, detached: true, env: trustEnvironment() });
}

/** The rest of the service's environment has secrets. */
function trustEnvironment(): Record<string, string> {
  const present = TRUST_VARIABLES.map((name) => [name, process.env[name] ?? '']);
  return Object.fromEntries(present.filter(([, value]) => value !== ''));
}
