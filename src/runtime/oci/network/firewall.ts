/**
 * Keeps the instance's firewall in force. Another program may flush all tables at any time (reloading
 * nftables.conf does), the uplink may change, Docker may start: so the present rules are compared with the wanted
 * ones every few seconds, and restored. Replacing the table leaves connections alone.
 */
import type { Log } from '../../../control/ports/index.ts';
import { tableOf } from '../host/plan.ts';
import { runCommand } from './command.ts';
import { acceptInForeignChains, listChains, withdrawFromForeignChains } from './foreign-forward.ts';
import { renderRuleset } from './ruleset.ts';
import { noteUplinks, openUplinks } from './uplinks.ts';

export interface Firewall {
  /** Applies the rules, and keeps them in force from then on. */
  start(): Promise<void>;
  /** Ends the watch; keeps the rules. */
  close(): Promise<void>;
}

const watchIntervalMs = 3_000;

export function createFirewall(instanceId: string, gateway: string, log: Log): Firewall {
  let applied = '';
  let timer: NodeJS.Timeout | null = null;
  let check: Promise<void> = Promise.resolve();

  async function putRight(): Promise<void> {
    const chains = await listChains();
    const guardedUplinks = noteUplinks(instanceId);
    const ruleset = renderRuleset({ instanceId, gateway, guardedUplinks });
    const present = chains.filter(({ table }) => table === tableOf(instanceId)).length;
    if (ruleset !== applied || present < chainsIn(ruleset)) {
      if (applied === ruleset) log.warn('firewall table was removed by another program; applied again');
      await runCommand('nft', ['-f', '-'], ruleset);
      applied = ruleset;
    }
    openUplinks(guardedUplinks);
    await acceptInForeignChains(instanceId, chains);
  }

  function watch(): void {
    timer = setTimeout(() => {
      check = putRight()
        .catch((error) => log.error('firewall check failed', { reason: String(error.cause ?? error) }))
        .finally(() => timer && watch());
    }, watchIntervalMs);
    timer.unref();
  }

  return {
    async start() {
      await putRight();
      watch();
    },
    async close() {
      if (timer) clearTimeout(timer);
      timer = null;
      await check;
    },
  };
}

/** Removes the table, and the instance's rules in other tables. */
export async function removeFirewall(instanceId: string): Promise<void> {
  await withdrawFromForeignChains(instanceId);
  const table = tableOf(instanceId);
  await runCommand('nft', ['-f', '-'], `add table inet ${table}\ndelete table inet ${table}\n`);
}

function chainsIn(ruleset: string): number {
  return ruleset.match(/^ {2}chain /gm)?.length ?? 0;
}
