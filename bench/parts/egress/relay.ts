/** A relay on the host that does nothing but splice, for the connections of one sandbox to one server. */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { gateway, type Internet } from '../../../test/egress/support/harness.ts';

interface Relayed {
  from: string;
  to: string;
  port: number;
}

const relayPort = 9450;
const START_MS = 500;

export async function startRelay(net: Internet, { from, to, port }: Relayed): Promise<AsyncDisposable> {
  const program = join(import.meta.dirname, 'bare-relay.py');
  const args = ['/usr/bin/python3', program, gateway, String(relayPort), to, String(port)];
  const child = spawn('nsenter', [`--net=${net.host.path}`, ...args], {
    stdio: ['ignore', 'ignore', 'inherit'],
  });
  const ended = once(child, 'exit');
  await sleep(START_MS);
  const rule = `ip saddr ${from} tcp dport ${port} dnat to ${gateway}:${relayPort}`;
  await net.host.run('nft', `insert rule ip egress arrive ${rule}`);
  return {
    async [Symbol.asyncDispose]() {
      child.kill('SIGKILL');
      await ended;
    },
  };
}
