/** What an instance leaves on a host and on the machine: looked at from outside of the code that made it. */
import { spawn } from 'node:child_process';
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Slot } from '../../src/runtime/oci/host/plan.ts';
import { runDirOf, type TestHost } from './harness.ts';

/** Links, addresses, routes, rules and forwarding of a host, as text. */
export async function traces(host: TestHost): Promise<string> {
  const shown = await Promise.all([
    host.run('ip', '-oneline', 'link'),
    host.run('ip', '-oneline', 'address'),
    host.run('ip', 'route', 'show', 'table', 'all'),
    host.run('nft', 'list', 'ruleset'),
    host.run('sysctl', `net.ipv4.conf.${host.uplink}.forwarding`),
  ]);
  return shown.join('\n').replace(/ifindex \d+|@if\d+/g, '');
}

/** Numbers that this instance has locked on the machine. */
export function locksOf(instanceId: string): number[] {
  const dir = '/run/sandhaven/slots';
  return readdirSync(dir)
    .filter((name) => readFileSync(join(dir, name), 'utf8').includes(`"${instanceId}"`))
    .map(Number);
}

/** Namespaces that this instance has pinned: two for each slot. */
export function pins(instanceId: string): number {
  return readFileSync('/proc/self/mounts', 'utf8')
    .split('\n')
    .filter((line) => line.startsWith(`nsfs ${runDirOf(instanceId)}/`)).length;
}

/** Something that runs as the slot's root, as a machine does. */
export function machineProcess({ userNamespacePath }: Slot) {
  const child = spawn('nsenter', [`--user=${userNamespacePath}`, 'sh', '-c', 'echo started; exec sleep 60']);
  return { child, [Symbol.dispose]: () => void child.kill('SIGKILL') };
}
